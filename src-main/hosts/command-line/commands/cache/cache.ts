import { InvalidArgumentError, type Command } from 'commander';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { App } from '../../../../app.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { TimeSlice } from '../../../../platform/time-slice.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { addArchiveCommands } from './archive.ts';
import { columns } from './columns.ts';

const ALIGNED = ['left', 'left', 'right', 'right', 'left', 'right', 'left'] as const;
/** Lines printed before checking for an interrupt. */
const LINES_AT_ONCE = 200;

export function addCacheCommand(program: Command, context: CommandContext): void {
  const cache = program.command('cache').description('look after the chunk store');
  cache
    .command('ls')
    .description('what is stored, most recently used first')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) => context.withApp((app) => list(app, context, json === true)));
  cache
    .command('verify')
    .description(
      'read every chunk file and check its checksums; damaged ones are set aside (exit status 1 if there are any)',
    )
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) => context.withApp((app) => verify(app, context, json === true)));
  cache
    .command('evict')
    .description('remove chunks: least recently used first, or all')
    .option('--all', 'remove everything that is not pinned')
    .option('--bytes <n>', 'free at least this many bytes, e.g. 500000000 or 500MB', parseBytes)
    .action((flags: { all?: boolean; bytes?: number }) =>
      context.withApp((app) => evict(app, context, flags)),
    );
  addArchiveCommands(cache, context);
}

async function list(app: App, { terminal, signal }: CommandContext, json: boolean): Promise<void> {
  const entries = app.store.list();
  const stats = app.store.stats();
  if (json) {
    terminal.out(`${JSON.stringify({ folder: app.paths.store, stats, entries }, null, 2)}\n`);
    return;
  }
  if (entries.length > 0) {
    const rows = entries.map(({ key, label, tokens, bytes, dtype, hits, lastUsedAt }) => {
      const lastUsed = new Date(lastUsedAt).toISOString().slice(0, 19);
      return [key.slice(0, 12), label, String(tokens), formatBytes(bytes), dtype, String(hits), lastUsed];
    });
    const lines = columns(
      [['key', 'from', 'tokens', 'size', 'dtype', 'hits', 'last used'], ...rows],
      ALIGNED,
    );
    const slice = new TimeSlice();
    for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
      terminal.out(`${lines.slice(start, start + LINES_AT_ONCE).join('\n')}\n`);
      await slice.step(signal);
    }
  }
  const total = `${formatBytes(stats.bytes)} of ${formatBytes(stats.diskBudgetBytes)}`;
  terminal.out(`${stats.entries} chunks, ${total}, in ${app.paths.store}\n`);
  const { files, bytes } = stats.quarantine;
  if (files > 0) terminal.out(`${files} damaged files set aside (${formatBytes(bytes)})\n`);
}

async function verify(app: App, { terminal, setExitCode }: CommandContext, json: boolean): Promise<void> {
  const report = await app.cache.check();
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
  app: App,
  { terminal }: CommandContext,
  flags: { all?: boolean; bytes?: number },
): Promise<void> {
  if ((flags.all === true) === (flags.bytes !== undefined)) {
    throw new KvasirError(
      'BAD_ARGUMENT',
      'cache evict needs either --all or --bytes.',
      'See cache evict --help.',
    );
  }
  const report = await app.store.evict(flags.bytes === undefined ? { all: true } : { bytes: flags.bytes });
  const kept = report.kept > 0 ? `; ${report.kept} pinned or in use stay` : '';
  terminal.out(`Removed ${report.entries} chunks, ${formatBytes(report.bytes)}${kept}.\n`);
}

function parseBytes(value: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kMGT]?)B?$/i.exec(value);
  const scale = { '': 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 }[match?.[2]?.toUpperCase() ?? ''];
  if (!match || scale === undefined)
    throw new InvalidArgumentError('It must be a number of bytes, such as 500000000 or 500MB.');
  return Math.ceil(Number(match[1]) * scale);
}
