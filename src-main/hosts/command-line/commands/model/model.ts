import type { Command } from 'commander';
import { inspectModel } from '../../../../models/model-defaults.ts';
import { describeModel } from '../../../../models/describe.ts';
import type { CommandContext } from '../../context.ts';

export function addModelCommand(program: Command, { terminal }: CommandContext): void {
  const model = program.command('model').description('look at model files');
  model
    .command('info')
    .description('what a GGUF file holds, and whether it runs here; reads the header only')
    .argument('<file>', 'GGUF file')
    .option('--json', 'print one JSON object')
    .action((file: string, { json }: { json?: boolean }) => {
      const info = inspectModel(file);
      if (json) terminal.out(`${JSON.stringify(info, null, 2)}\n`);
      else
        for (const [label, value] of describeModel(info))
          terminal.out(`${terminal.bold(label.padEnd(14))} ${value}\n`);
    });
}
