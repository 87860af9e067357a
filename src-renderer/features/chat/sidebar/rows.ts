import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';

type Group = 'pinned' | 'today' | 'yesterday' | 'week' | 'older';
export type Row =
  | { kind: 'heading'; group: Group }
  | { kind: 'project'; project: Project; open: boolean; count: number }
  | { kind: 'item'; summary: ConversationSummary; nested: boolean };

interface Grouping {
  nowMs: number;
  projects?: readonly Project[];
  /** Ids of projects whose conversations are left out. */
  closed?: readonly string[];
}

/** Pinned conversations, those of each project, then the others by age; in each group the newest first. */
export function rowsOf(
  summaries: readonly ConversationSummary[],
  { nowMs, projects = [], closed = [] }: Grouping,
): Row[] {
  const isPinned = ({ pinned }: ConversationSummary): boolean => pinned;
  const isIn = (id: string) => (each: ConversationSummary) => !each.pinned && each.projectId === id;
  const inProject = (each: ConversationSummary): boolean => projects.some(({ id }) => isIn(id)(each));
  const ofProjects = projects.flatMap((project): Row[] => {
    const own = summaries.filter(isIn(project.id));
    const open = !closed.includes(project.id);
    const row: Row = { kind: 'project', project, open, count: own.length };
    return [row, ...(open ? own.toSorted(byTime).map((summary) => itemOf(summary, true)) : [])];
  });
  return [
    ...byAge(summaries.filter(isPinned), nowMs),
    ...ofProjects,
    ...byAge(
      summaries.filter((each) => !each.pinned && !inProject(each)),
      nowMs,
    ),
  ];
}

/** Identifies a row across changes of the list. */
export function rowKey(row: Row): string {
  if (row.kind === 'item') return row.summary.id;
  return row.kind === 'project' ? `project ${row.project.id}` : row.group;
}

function byTime(a: ConversationSummary, b: ConversationSummary): number {
  return b.updatedMs - a.updatedMs;
}

function itemOf(summary: ConversationSummary, nested: boolean): Row {
  return { kind: 'item', summary, nested };
}

function byAge(summaries: readonly ConversationSummary[], nowMs: number): Row[] {
  const rows: Row[] = [];
  let last: Group | undefined;
  for (const summary of summaries.toSorted(byTime)) {
    const group = summary.pinned ? 'pinned' : ageOf(summary.updatedMs, nowMs);
    if (group !== last) rows.push({ kind: 'heading', group });
    last = group;
    rows.push(itemOf(summary, false));
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

/** The next row that is no heading, from `index` in a direction; undefined at the end. */
export function nextItem(rows: readonly Row[], index: number, step: 1 | -1): number | undefined {
  for (let i = index + step; i >= 0 && i < rows.length; i += step) if (rows[i]?.kind !== 'heading') return i;
  return undefined;
}
