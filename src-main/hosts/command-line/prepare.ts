import type { Notice } from '../../../src-shared/answer.ts';
import { whyNotBlended } from '../../../src-shared/blending.ts';
import type { PrecomputeReport, SyncReport } from '../../../src-shared/library.ts';
import type { Workspace } from '../../app.ts';
import type { DrainReport } from '../../library/folder-library.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import type { Terminal } from './terminal.ts';

interface Prepared extends DrainReport {
  notices: Notice[];
}

/** Updates a library and its cache, with progress; lists documents that could not be read. */
export async function prepare(
  { library, model: { info } }: Workspace,
  options: { terminal: Terminal; signal: AbortSignal; precompute: boolean },
): Promise<Prepared> {
  const { terminal, signal, precompute: precomputed } = options;
  const display = terminal.progress();
  try {
    const run = { precompute: precomputed, signal, onProgress: display.update };
    const { sync, precompute } = await library.drain(run);
    display.stop();
    const notices = [
      ...failureNotices(sync),
      ...skippedNotices(sync),
      ...blendingNotices(info),
      ...budgetNotices(precompute),
    ];
    for (const { message } of notices) terminal.err(`Note: ${message}`);
    return { sync, precompute, notices };
  } finally {
    display.stop();
  }
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

function blendingNotices({ name, obstacle }: Workspace['model']['info']): Notice[] {
  return obstacle === '' ? [] : [{ kind: 'not-blended', message: whyNotBlended(name, obstacle) }];
}

function budgetNotices(report: PrecomputeReport | undefined): Notice[] {
  if (!report || report.overBudgetBytes <= 0) return [];
  const message =
    `The disk budget cannot hold ${formatBytes(report.overBudgetBytes)} of the library's cache: ` +
    'chunks that do not fit are computed when a question needs them (setting diskBudgetBytes).';
  return [{ kind: 'over-budget', message }];
}
