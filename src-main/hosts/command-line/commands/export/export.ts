import type { Command } from 'commander';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { stoppable } from '../../../client/stoppable.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { path } from '../../options.ts';

export function addExportCommand(program: Command, context: CommandContext): void {
  const { terminal, signal, setExitCode } = context;
  program
    .command('export')
    .description(
      'write your conversations, projects, analyses, documents and settings in open formats (exit status 1 if an original is missing)',
    )
    .requiredOption('--to <path>', 'ZIP file to write if it ends in .zip, else a folder', path(context))
    .action(({ to }: { to: string }) =>
      context.withClient(undefined, async (client) => {
        const report = await stoppable(
          signal,
          () => client.call('app.stopExport'),
          () => client.call('app.export', { to }),
        );
        terminal.out(
          `Exported ${report.files} files, ${formatBytes(report.bytes)}, to ${report.path}. README.txt in it says what they are.\n`,
        );
        if (report.incomplete === 0) return;
        setExitCode(EXIT.failure);
        for (const { path: document, reason } of report.named)
          terminal.err(`Incomplete: ${document}: ${reason}`);
        terminal.err(
          `${report.incomplete} originals are missing or incomplete; documents.csv of each library lists them all.`,
        );
      }),
    );
}
