import type { Command } from 'commander';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import type { CoreClient } from '../../../client/client.ts';
import { stoppable } from '../../../client/stoppable.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { path } from '../../options.ts';

/** Exports stored chunks to one file, and imports them on another machine. */
export function addArchiveCommands(cache: Command, context: CommandContext): void {
  const { terminal, signal, setExitCode } = context;
  const run = <T>(client: CoreClient, work: () => Promise<T>): Promise<T> =>
    stoppable(signal, () => client.call('cache.stopArchive'), work);
  cache
    .command('export')
    .description('write what is stored of a library into one file, for another machine with the same model')
    .argument('<file>', 'file to write', path(context))
    .requiredOption('--library <dir>', 'folder of the library', path(context))
    .action((file: string, { library }: { library: string }) =>
      context.withClient(undefined, async (client) => {
        const { chunks, bytes } = await run(client, () => client.call('cache.export', { library, file }));
        terminal.out(`Wrote ${chunks} chunks, ${formatBytes(bytes)}, to ${file}.\n`);
        terminal.err('They are derived from the documents: who has the file can learn about them.');
      }),
    );
  cache
    .command('import')
    .description('store the chunks of such a file; each is verified, and nothing is evicted for them')
    .argument('<file>', 'file that `cache export` has written', path(context))
    .action((file: string) =>
      context.withClient(undefined, async (client) => {
        const report = await run(client, () => client.call('cache.import', { file }));
        const already = report.there > 0 ? `; ${report.there} were there already` : '';
        terminal.out(`Added ${report.added} chunks, ${formatBytes(report.bytes)}${already}.\n`);
        for (const { key, reason } of report.refused) terminal.err(`Not added: ${key}: ${reason}`);
        if (report.refused.length > 0) setExitCode(EXIT.failure);
      }),
    );
}
