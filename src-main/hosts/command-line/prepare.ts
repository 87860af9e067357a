import type { Notice } from '../../../src-shared/answer.ts';
import { whyNotBlended } from '../../../src-shared/blending.ts';
import type { PrecomputePlan } from '../../../src-shared/contract/libraries.ts';
import { KV_DTYPES } from '../../../src-shared/kv-dtype.ts';
import type { OutputOf } from '../../../src-shared/contract/contract.ts';
import type { ModelInUse } from '../../../src-shared/contract/models.ts';
import type { PrecomputeReport, SyncReport } from '../../../src-shared/library.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import type { CoreClient } from '../client/client.ts';
import { stoppable } from '../client/stoppable.ts';
import type { Terminal } from './terminal.ts';

export interface PrepareReport extends OutputOf<'libraries.read'> {
  notices: Notice[];
}

interface PrepareOptions {
  model: ModelInUse;
  /** Absent: the sample library. */
  library?: string | undefined;
  precompute: boolean;
  terminal: Terminal;
  signal: AbortSignal;
}

/** Updates a library and its cache, with progress; lists documents that could not be read. */
export async function prepare(
  client: CoreClient,
  { model, library: path, precompute, terminal, signal }: PrepareOptions,
): Promise<PrepareReport> {
  const display = terminal.progress();
  const ends = [
    client.on('library.progress', display.update),
    client.on('library.plan', (plan) => {
      if (plan.tokens > 0) terminal.err(planSentence(plan));
    }),
  ];
  try {
    const report = await stoppable(
      signal,
      () => client.call('libraries.stopReading'),
      () => client.call('libraries.read', { path, precompute }),
    );
    display.stop();
    const notices = [
      ...failureNotices(report.sync),
      ...skippedNotices(report.sync),
      ...blendingNotices(model),
      ...budgetNotices(report.precompute),
    ];
    for (const { message } of notices) terminal.err(`Note: ${message}`);
    return { ...report, notices };
  } finally {
    for (const end of ends) end();
    display.stop();
  }
}

/** What precomputing a library will take, in one sentence. */
export function planSentence(plan: PrecomputePlan): string {
  const { tokens, dtype, bytes, seconds, budgetShare, proposal } = plan;
  if (tokens === 0) return 'The cache of all documents is stored: nothing is left to compute.';
  const others = KV_DTYPES.filter((each) => each !== dtype).map(
    (each) => `${formatBytes(bytes[each])} as ${each}`,
  );
  const time =
    seconds === null ? 'the time is known once the model was measured here' : `about ${timeOf(seconds)} here`;
  return (
    `To compute: ${tokens.toLocaleString('en')} tokens, ${formatBytes(bytes[dtype])} of KV as ${dtype} (${others.join(', ')}), ` +
    `${time}; the disk budget holds ${percent(budgetShare)} of it.` +
    (proposal
      ? ` Proposed for this disk: ${formatBytes(proposal.bytes)} (setting diskBudgetBytes), which would hold ${percent(proposal.share)}.`
      : '')
  );
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

function timeOf(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function failureNotices({ failures }: SyncReport): Notice[] {
  return failures.map(({ message }) => ({
    kind: 'document-failed',
    message: `Left out of the library: ${message}`,
  }));
}

/** Number of file names in one sentence; further ones are only counted. */
const NAMED = 3;

function skippedNotices({ skipped }: SyncReport): Notice[] {
  if (skipped.length === 0) return [];
  const more = skipped.length > NAMED ? ` and ${skipped.length - NAMED} more` : '';
  const message = `Files of kinds that Kvasir does not read were left out: ${skipped.slice(0, NAMED).join(', ')}${more}.`;
  return [{ kind: 'kinds-skipped', message }];
}

function blendingNotices({ name, obstacle }: ModelInUse): Notice[] {
  return obstacle === null ? [] : [{ kind: 'not-blended', message: whyNotBlended(name, obstacle) }];
}

function budgetNotices(report: PrecomputeReport | null): Notice[] {
  if (!report || report.overBudgetBytes <= 0) return [];
  const message =
    `The disk budget cannot hold ${formatBytes(report.overBudgetBytes)} of the library's cache: ` +
    'chunks that do not fit are computed when a question needs them (setting diskBudgetBytes).';
  return [{ kind: 'over-budget', message }];
}
