import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';

type Group = 'pinned' | 'today' | 'yesterday' | 'week' | 'older';
export type Row = { kind: 'heading'; group: Group } | { kind: 'item'; summary: ConversationSummary };

/** Conversations under headings: the pinned ones, then the others by age; in each group the newest first. */
export function rowsOf(summaries: readonly ConversationSummary[], nowMs: number): Row[] {
  const rows: Row[] = [];
  let last: Group | undefined;
  const order = (a: ConversationSummary, b: ConversationSummary): number =>
    Number(b.pinned) - Number(a.pinned) || b.updatedMs - a.updatedMs;
  for (const summary of summaries.toSorted(order)) {
    const group = summary.pinned ? 'pinned' : ageOf(summary.updatedMs, nowMs);
    if (group !== last) rows.push({ kind: 'heading', group });
    last = group;
    rows.push({ kind: 'item', summary });
  }
  return rows;
}

function ageOf(atMs: number, nowMs: number): Group {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  const day = 86_400_000;
  if (atMs >= midnight) return 'today';
  if (atMs >= midnight - day) return 'yesterday';
  return atMs >= midnight - 6 * day ? 'week' : 'older';
}

/** The next item from `index` in a direction; undefined at the end. */
export function nextItem(rows: readonly Row[], index: number, step: 1 | -1): number | undefined {
  for (let i = index + step; i >= 0 && i < rows.length; i += step) if (rows[i]?.kind === 'item') return i;
  return undefined;
}
