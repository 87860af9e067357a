import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inspectModel } from '../../../../models/model-defaults.ts';
import { describeModel } from '../../../../models/registry/describe.ts';
import type { CommandContext } from '../../context.ts';
import { useModel } from '../../use-model.ts';

export function addModelCommand(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const model = program.command('model').description('list, add and choose models');
  model
    .command('list')
    .description('the models that Kvasir knows: files, and models on servers')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) => list(context, json === true));
  model
    .command('import')
    .description('add a GGUF file to the models that Kvasir knows; it stays where it is')
    .argument('<file>', 'GGUF file')
    .option('--copy', "copy it into Kvasir's data folder")
    .action((file: string, { copy = false }: { copy?: boolean }) => importFile(context, file, copy));
  model
    .command('use')
    .description(
      'load a model, and answer with it from now on; an embedding model or a reranker is used for search',
    )
    .argument('<model>', 'its name in the list, or a GGUF file')
    .action((name: string) => use(context, name));
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
      ({ name, server, path, baseModel }) =>
        `${terminal.bold(name)}${baseModel ? ' (base model, not for chat)' : ''}\n  ${server ? `${server.model} on ${server.host}` : path}\n`,
    );
    terminal.out(json ? `${JSON.stringify({ models }, null, 2)}\n` : lines.join(''));
  });
}

async function importFile(
  { terminal, cwd, withClient }: CommandContext,
  file: string,
  copy: boolean,
): Promise<void> {
  await withClient(undefined, async (client) => {
    const { name } = await client.call('models.import', { path: resolve(cwd, file), copy });
    terminal.out(
      `${terminal.bold(name)} is in the list. To answer with it: model use ${JSON.stringify(name)}\n`,
    );
  });
}

async function use({ terminal, cwd, withClient }: CommandContext, model: string): Promise<void> {
  await withClient(undefined, async (client) => {
    const { name, role } = await useModel(model, cwd, client);
    const does = { chat: 'answers', embedding: 'embeds', reranker: 'reranks' }[role];
    terminal.out(`${terminal.bold(name)} ${does} from now on.\n`);
  });
}
