import type { Command } from 'commander';
import type { App } from '../../../../app.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { path } from '../../options.ts';

/** Exports stored chunks to one file, and imports them on another machine. */
export function addArchiveCommands(cache: Command, context: CommandContext): void {
  cache
    .command('export')
    .description('write what is stored of a library into one file, for another machine with the same model')
    .argument('<file>', 'file to write', path(context))
    .requiredOption('--library <dir>', 'folder of the library', path(context))
    .action((file: string, { library }: { library: string }) =>
      context.withApp((app) => exportLibrary(app, context, library, file)),
    );
  cache
    .command('import')
    .description('store the chunks of such a file; each is verified, and nothing is evicted for them')
    .argument('<file>', 'file that `cache export` has written', path(context))
    .action((file: string) => context.withApp((app) => importFile(app, context, file)));
}

async function exportLibrary(
  app: App,
  { terminal, signal }: CommandContext,
  library: string,
  file: string,
): Promise<void> {
  const { chunks, bytes } = await app.archive.export(library, file, { signal });
  terminal.out(`Wrote ${chunks} chunks, ${formatBytes(bytes)}, to ${file}.\n`);
  terminal.err('They are derived from the documents: who has the file can learn about them.');
}

async function importFile(
  app: App,
  { terminal, signal, setExitCode }: CommandContext,
  file: string,
): Promise<void> {
  const { added, bytes, there, refused } = await app.archive.import(file, { signal });
  const already = there > 0 ? `; ${there} were there already` : '';
  terminal.out(`Added ${added} chunks, ${formatBytes(bytes)}${already}.\n`);
  for (const { key, reason } of refused) terminal.err(`Not added: ${key}: ${reason}`);
  if (refused.length > 0) setExitCode(EXIT.failure);
}
