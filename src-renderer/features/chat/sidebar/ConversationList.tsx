import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';
import { ConversationRow } from './ConversationRow.tsx';
import { nextItem, rowsOf } from './rows.ts';
import type { ConversationActions } from './useConversationActions.ts';
import classes from './Sidebar.module.css';

const ITEM_HEIGHT = 54;
const HEADING_HEIGHT = 32;

/** The virtualised list. Arrow keys move between conversations. */
export function ConversationList({
  summaries,
  activeId,
  actions,
  onOpen,
}: {
  summaries: readonly ConversationSummary[];
  activeId: string | undefined;
  actions: ConversationActions;
  onOpen: () => void;
}) {
  const { t } = useTranslation('chat');
  const scroller = useRef<HTMLDivElement>(null);
  const [renamingId, setRenamingId] = useState<string>();
  const [openedMs] = useState(() => Date.now());
  const [stopId, setStopId] = useState<string>();
  const rows = useMemo(() => rowsOf(summaries, openedMs), [summaries, openedMs]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === 'heading' ? HEADING_HEIGHT : ITEM_HEIGHT),
    getItemKey: (index) => {
      const row = rows[index];
      return row?.kind === 'item' ? row.summary.id : (row?.group ?? index);
    },
    overscan: 8,
  });

  // One tab stop for the whole list: the last focused row, else the selected conversation, else the first.
  const stop = [stopId, activeId].find((id) => summaries.some((each) => each.id === id));
  const first = rows.find((row) => row.kind === 'item');
  const tabStop = stop ?? (first?.kind === 'item' ? first.summary.id : undefined);

  const focusRow = (index: number | undefined): void => {
    if (index === undefined) return;
    virtual.scrollToIndex(index);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus(),
    );
  };

  const onKeyDown = (event: React.KeyboardEvent): void => {
    const index = indexOf(event.target);
    const row = index === undefined ? undefined : rows[index];
    if (index === undefined || row?.kind !== 'item' || event.target instanceof HTMLInputElement) return;
    const { id, title } = row.summary;
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => focusRow(nextItem(rows, index, 1)),
      ArrowUp: () => focusRow(nextItem(rows, index, -1)),
      Home: () => focusRow(nextItem(rows, -1, 1)),
      End: () => focusRow(nextItem(rows, rows.length, -1)),
      F2: () => setRenamingId(id),
      Delete: () => {
        actions.remove(id, title);
        focusRow(nextItem(rows, index, 1) ?? nextItem(rows, index, -1));
      },
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
            <li key={key} data-index={index} style={{ transform: `translateY(${start}px)`, height: size }}>
              {row?.kind === 'heading' && <span className={classes.heading}>{t(`list.${row.group}`)}</span>}
              {row?.kind === 'item' && (
                <ConversationRow
                  summary={row.summary}
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
