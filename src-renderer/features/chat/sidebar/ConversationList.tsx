import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { setProjectOpen, useChatLayout } from '../chat-state.ts';
import { ProjectRow } from '../projects/ProjectRow.tsx';
import type { ProjectActions } from '../projects/useProjectActions.tsx';
import { ConversationRow } from './ConversationRow.tsx';
import { nextItem, rowKey, rowsOf, type Row } from './rows.ts';
import type { ConversationActions } from './useConversationActions.ts';
import classes from './Sidebar.module.css';

const HEIGHT = { item: 54, project: 38, heading: 32 };

/** The virtualised list. Arrow keys move between conversations. */
export function ConversationList({
  summaries,
  projects,
  activeId,
  actions,
  projectActions,
  onOpen,
}: {
  summaries: readonly ConversationSummary[];
  /** Those to group by. */
  projects: readonly Project[];
  activeId: string | undefined;
  actions: ConversationActions;
  projectActions: ProjectActions;
  onOpen: () => void;
}) {
  const { t } = useTranslation('chat');
  const scroller = useRef<HTMLDivElement>(null);
  const [renamingId, setRenamingId] = useState<string>();
  const [openedMs] = useState(() => Date.now());
  const [stopId, setStopId] = useState<string>();
  const closed = useChatLayout((state) => state.closedProjects);
  const rows = useMemo(
    () => rowsOf(summaries, { nowMs: openedMs, projects, closed }),
    [summaries, openedMs, projects, closed],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHT[rows[index]?.kind ?? 'item'],
    getItemKey: (index) => {
      const row = rows[index];
      return row ? rowKey(row) : index;
    },
    overscan: 8,
  });

  // One tab stop for the whole list: the last focused row, else the selected conversation, else the first.
  const keys = rows.filter(({ kind }) => kind !== 'heading').map(rowKey);
  const tabStop = [stopId, activeId].find((key) => key !== undefined && keys.includes(key)) ?? keys[0];

  const focusRow = (index: number | undefined): void => {
    if (index === undefined) return;
    virtual.scrollToIndex(index);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] :is(a, button)`)?.focus(),
    );
  };

  const keysOfItem = ({ id, title }: ConversationSummary, index: number) => ({
    F2: () => setRenamingId(id),
    Delete: () => {
      actions.remove(id, title);
      focusRow(nextItem(rows, index, 1) ?? nextItem(rows, index, -1));
    },
  });
  const keysOfProject = ({ project }: Row & { kind: 'project' }) => ({
    ArrowRight: () => setProjectOpen(project.id, true),
    ArrowLeft: () => setProjectOpen(project.id, false),
    F2: () => projectActions.edit(project),
    Delete: () => projectActions.remove(project),
  });

  const onKeyDown = (event: React.KeyboardEvent): void => {
    const index = indexOf(event.target);
    const row = index === undefined ? undefined : rows[index];
    if (index === undefined || !row || row.kind === 'heading' || event.target instanceof HTMLInputElement)
      return;
    const own = row.kind === 'item' ? keysOfItem(row.summary, index) : keysOfProject(row);
    const keys: Record<string, (() => void) | undefined> = {
      ...own,
      ArrowDown: () => focusRow(nextItem(rows, index, 1)),
      ArrowUp: () => focusRow(nextItem(rows, index, -1)),
      Home: () => focusRow(nextItem(rows, -1, 1)),
      End: () => focusRow(nextItem(rows, rows.length, -1)),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  return (
    <div ref={scroller} className={classes.scroller} onKeyDown={onKeyDown} role="presentation">
      <ul className={classes.list} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start, size }) => {
          const row = rows[index];
          return (
            <li
              key={key}
              data-index={index}
              data-nested={row?.kind === 'item' && row.nested}
              style={{ transform: `translateY(${start}px)`, height: size }}
            >
              {row?.kind === 'heading' && <span className={classes.heading}>{t(`list.${row.group}`)}</span>}
              {row?.kind === 'project' && (
                <ProjectRow
                  {...row}
                  tabStop={rowKey(row) === tabStop}
                  onFocus={() => setStopId(rowKey(row))}
                  actions={projectActions}
                />
              )}
              {row?.kind === 'item' && (
                <ConversationRow
                  summary={row.summary}
                  projects={projects}
                  projectActions={projectActions}
                  active={row.summary.id === activeId}
                  tabStop={row.summary.id === tabStop}
                  renaming={row.summary.id === renamingId}
                  onFocus={() => setStopId(row.summary.id)}
                  actions={actions}
                  onRenaming={(renaming) => setRenamingId(renaming ? row.summary.id : undefined)}
                  onOpen={onOpen}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function indexOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest('[data-index]') : null;
  return row instanceof HTMLElement ? Number(row.dataset['index']) : undefined;
}
