import type { Command } from 'commander';
import { inspectModel } from '../../../../models/model-defaults.ts';
import { describeModel } from '../../../../models/registry/describe.ts';
import type { CommandContext } from '../../context.ts';

export function addModelCommand(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const model = program.command('model').description('look at models');
  model
    .command('list')
    .description('the models that Kvasir knows: files, and models on servers')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) => list(context, json === true));
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

async function list({ terminal, withClient }: CommandContext, json: boolean): Promise<void> {
  await withClient(undefined, async (client) => {
    const models = await client.call('models.list');
    const lines = models.map(
      ({ name, server, path }) =>
        `${terminal.bold(name)}\n  ${server ? `${server.model} on ${server.host}` : path}\n`,
    );
    terminal.out(json ? `${JSON.stringify({ models }, null, 2)}\n` : lines.join(''));
  });
}
