import { InvalidArgumentError, type Command } from 'commander';
import type { CacheFolder, CacheFolders } from '../../../../../src-shared/contract/cache.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import type { CoreClient } from '../../../client/client.ts';
import { requireConfirmed } from '../../confirm.ts';
import type { CommandContext } from '../../context.ts';
import { byteCount, path } from '../../options.ts';
import { columns } from './columns.ts';

interface LimitFlags {
  budget?: number;
  price?: number;
}

/** Folders for stored KV besides the data folder. */
export function addFolderCommands(cache: Command, context: CommandContext): void {
  const { terminal } = context;
  cache
    .command('folders')
    .description(
      'the folders that chunks are stored in, how fast they are, and which of them new chunks go to',
    )
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) =>
      context.withClient(undefined, async (client) => {
        const folders = await client.call('cache.folders');
        terminal.out(json ? `${JSON.stringify(folders, null, 2)}\n` : listed(folders));
      }),
    );
  limits(cache.command('add-folder'))
    .description('store chunks in a folder as well, such as one on a big slow disk')
    .argument('<dir>', 'folder; chunks are stored in `kvasir-cache` within it', path(context))
    .action((dir: string, { budget, price }: LimitFlags) =>
      context.withClient(undefined, async (client) => {
        if (budget === undefined)
          throw new KvasirError(
            'BAD_ARGUMENT',
            'cache add-folder needs --budget.',
            'See cache add-folder --help.',
          );
        const limit = { budgetBytes: budget, ...(price !== undefined && { pricePerGb: price }) };
        terminal.out(listed(await client.call('cache.addFolder', { path: dir, ...limit })));
        terminal.err('Chunks are derived from the documents: who has the disk can learn about them.');
      }),
    );
  limits(cache.command('change-folder'))
    .description('change the budget or the price of an added folder')
    .argument('<dir>', 'the folder', path(context))
    .action((dir: string, { budget: budgetBytes, price: pricePerGb }: LimitFlags) =>
      context.withClient(undefined, async (client) => {
        const { id } = await added(client, dir);
        terminal.out(listed(await client.call('cache.changeFolder', { id, budgetBytes, pricePerGb })));
      }),
    );
  cache
    .command('remove-folder')
    .description(
      'remove an added folder: its chunks move to the others as far as there is room; the rest is deleted',
    )
    .argument('<dir>', 'the folder', path(context))
    .option('--yes', 'also if pinned chunks in it are lost')
    .action((dir: string, { yes = false }: { yes?: boolean }) =>
      context.withClient(undefined, (client) => remove(client, context, dir, yes)),
    );
}

async function remove(client: CoreClient, context: CommandContext, dir: string, yes: boolean): Promise<void> {
  const { id, state } = await added(client, dir);
  const first = await client.call('cache.removeFolder', { id, deletePinned: yes });
  let { moved, deleted } = first;
  if (first.kept.chunks > 0) {
    const pinned = `${first.kept.chunks} pinned chunks (${formatBytes(first.kept.bytes)})`;
    const why = state === 'ready' ? 'fit in no other folder' : 'cannot be moved, because it is not connected';
    await requireConfirmed(context, {
      consequence: `Removing ${dir} loses ${pinned}: they ${why}.`,
      otherwise: 'Raise the budget of another folder or unpin the chunks, or repeat the command with --yes.',
    });
    const second = await client.call('cache.removeFolder', { id, deletePinned: true });
    moved += second.moved;
    deleted = second.deleted;
  }
  context.terminal.out(`Moved ${moved} chunks, deleted ${deleted}.\n`);
}

function limits(command: Command): Command {
  return command
    .option('--budget <n>', 'bytes that its chunks may take, e.g. 500GB', byteCount)
    .option('--price <n>', 'price of a GB there, in any currency, to compare it with other folders', price);
}

function price(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0))
    throw new InvalidArgumentError('It must be a number, 0 or more.');
  return number;
}

async function added(client: CoreClient, dir: string): Promise<CacheFolder> {
  const { folders } = await client.call('cache.folders');
  const found = folders.find(({ id, path: each }) => id !== '' && each === dir);
  if (found) return found;
  throw new KvasirError('NOT_FOUND', `${dir} is not an added cache folder.`, 'See cache folders.');
}

const STATES = {
  ready: 'ready',
  'not-connected': 'not connected',
  'not-responding': 'not responding',
  'in-use': 'in use by another Kvasir',
  failed: 'failed',
} as const satisfies Record<CacheFolder['state'], string>;

function listed({ folders, newChunks }: CacheFolders): string {
  const rows = folders.map(
    ({ path: dir, state, problem, chunks, bytes, budgetBytes, bytesPerSecond, pricePerGb }) => [
      dir,
      problem === '' ? STATES[state] : `${STATES[state]}: ${problem}`,
      String(chunks),
      `${formatBytes(bytes)} of ${formatBytes(budgetBytes)}`,
      bytesPerSecond === null ? '' : `${formatBytes(bytesPerSecond)}/s`,
      pricePerGb === null ? '' : String(pricePerGb),
    ],
  );
  const lines = columns(
    [['folder', 'state', 'chunks', 'size', 'read', 'price per GB'], ...rows],
    ['left', 'left', 'right', 'right', 'right', 'right'],
  );
  const first = folders.find(({ id }) => id === newChunks.folder);
  return `${lines.join('\n')}\n${first ? `${reason(first, newChunks)}\n` : ''}`;
}

function reason(
  { path: dir, loadMs }: CacheFolder,
  { reason: why, computeMs }: CacheFolders['newChunks'],
): string {
  const behind = `reading a usual prompt's chunks takes ${ms(loadMs)}, behind ${ms(computeMs)} of computing`;
  switch (why) {
    case 'only':
      return `New chunks go to ${dir}, the only folder that adds no delay: ${behind}.`;
    case 'cheapest':
      return `New chunks go to ${dir}, the cheapest folder that adds no delay: ${behind}.`;
    case 'unpriced':
      return `New chunks go to ${dir}: ${behind}. No price per GB is known.`;
    case 'fastest':
      return `New chunks go to ${dir}, the fastest folder: reading takes ${ms(loadMs)}, longer than ${ms(computeMs)} of computing.`;
    case 'unmeasured':
      return `New chunks go to ${dir} until the speed of model and folders is known.`;
  }
}

function ms(value: number | null): string {
  return `${Math.round(value ?? 0)} ms`;
}
