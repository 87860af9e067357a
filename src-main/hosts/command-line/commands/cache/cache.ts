import type { Command } from 'commander';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { CacheEntry } from '../../../../../src-shared/contract/cache.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { throwIfAborted } from '../../../../platform/abort.ts';
import type { CoreClient } from '../../../client/client.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { byteCount } from '../../options.ts';
import { addArchiveCommands } from './archive.ts';
import { columns } from './columns.ts';
import { addFolderCommands } from './folders.ts';

const ALIGNED = ['left', 'left', 'right', 'right', 'left', 'right', 'left'] as const;

export function addCacheCommand(program: Command, context: CommandContext): void {
  const cache = program.command('cache').description('look after the chunk store');
  cache
    .command('ls')
    .description('what is stored, most recently used first')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) =>
      context.withClient(undefined, (client) => list(client, context, json === true)),
    );
  cache
    .command('verify')
    .description(
      'read every chunk file and check its checksums; damaged ones are set aside (exit status 1 if there are any)',
    )
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) =>
      context.withClient(undefined, (client) => verify(client, context, json === true)),
    );
  cache
    .command('evict')
    .description('remove chunks: least recently used first, or all')
    .option('--all', 'remove everything that is not pinned')
    .option('--bytes <n>', 'free at least this many bytes, e.g. 500000000 or 500MB', byteCount)
    .action((flags: { all?: boolean; bytes?: number }) =>
      context.withClient(undefined, (client) => evict(client, context, flags)),
    );
  addFolderCommands(cache, context);
  addArchiveCommands(cache, context);
}

async function list(client: CoreClient, { terminal, signal }: CommandContext, json: boolean): Promise<void> {
  const stats = await client.call('cache.stats');
  const entries = await allEntries(client, signal);
  if (json) {
    const listed = entries.map(({ document: label, ...entry }) => ({ ...entry, label }));
    const all = { folder: stats.folder, stats: { ...stats, entries: stats.chunks }, entries: listed };
    terminal.out(`${JSON.stringify(all, null, 2)}\n`);
    return;
  }
  if (entries.length > 0) {
    const rows = entries.map(({ key, document, tokens, bytes, dtype, hits, lastUsedMs }) => {
      const lastUsed = lastUsedMs === null ? '' : new Date(lastUsedMs).toISOString().slice(0, 19);
      return [key.slice(0, 12), document, String(tokens), formatBytes(bytes), dtype, String(hits), lastUsed];
    });
    const lines = columns(
      [['key', 'from', 'tokens', 'size', 'dtype', 'hits', 'last used'], ...rows],
      ALIGNED,
    );
    terminal.out(`${lines.join('\n')}\n`);
  }
  const { folders } = await client.call('cache.folders');
  for (const { chunks, bytes: held, budgetBytes, path } of folders)
    terminal.out(`${chunks} chunks, ${formatBytes(held)} of ${formatBytes(budgetBytes)}, in ${path}\n`);
  const { files, bytes } = stats.quarantine;
  if (files > 0) terminal.out(`${files} damaged files set aside (${formatBytes(bytes)})\n`);
}

async function allEntries(client: CoreClient, signal: AbortSignal): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = [];
  for (let total = 1; entries.length < total;) {
    throwIfAborted(signal);
    const page = { sort: 'lastUsed', descending: true, offset: entries.length, limit: 1000 } as const;
    const listed = await client.call('cache.entries', page);
    if (listed.items.length === 0) break; // evicted meanwhile
    entries.push(...listed.items);
    total = listed.total;
  }
  return entries;
}

async function verify(
  client: CoreClient,
  { terminal, setExitCode }: CommandContext,
  json: boolean,
): Promise<void> {
  const report = await client.call('cache.verify');
  const bad = report.corrupt.length + report.missing.length + report.newerFormat.length;
  if (bad > 0) setExitCode(EXIT.failure);
  if (json) {
    terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    return;
  }
  terminal.out(`${report.ok} of ${report.checked} chunks are undamaged (${formatBytes(report.bytes)}).\n`);
  for (const { key, reason } of report.corrupt) terminal.err(`Damaged, set aside: ${key}: ${reason}`);
  for (const key of report.missing) terminal.err(`Missing: ${key}: its file is gone`);
  for (const key of report.newerFormat) {
    terminal.err(`Newer format: ${key}: written by a newer version of Kvasir, left alone`);
  }
  if (bad > 0) terminal.err('Chunks that are gone are computed again when they are needed.');
}

async function evict(
  client: CoreClient,
  { terminal }: CommandContext,
  { all = false, bytes: freeBytes }: { all?: boolean; bytes?: number },
): Promise<void> {
  if (all === (freeBytes !== undefined)) {
    throw new KvasirError(
      'BAD_ARGUMENT',
      'cache evict needs either --all or --bytes.',
      'See cache evict --help.',
    );
  }
  const selection = freeBytes === undefined ? { all: true as const } : { freeBytes };
  const { chunks, bytes, kept } = await client.call('cache.evict', { selection });
  const stay = kept > 0 ? `; ${kept} pinned or in use stay` : '';
  terminal.out(`Removed ${chunks} chunks, ${formatBytes(bytes)}${stay}.\n`);
}
