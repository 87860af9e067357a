import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';

type Age = 'today' | 'yesterday' | 'week' | 'older';
export type Row = { kind: 'heading'; age: Age } | { kind: 'item'; summary: ConversationSummary };

/** Conversations, newest first, grouped under headings by age. */
export function rowsOf(summaries: readonly ConversationSummary[], nowMs: number): Row[] {
  const rows: Row[] = [];
  let last: Age | undefined;
  for (const summary of summaries.toSorted((a, b) => b.updatedMs - a.updatedMs)) {
    const age = ageOf(summary.updatedMs, nowMs);
    if (age !== last) rows.push({ kind: 'heading', age });
    last = age;
    rows.push({ kind: 'item', summary });
  }
  return rows;
}

function ageOf(atMs: number, nowMs: number): Age {
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
