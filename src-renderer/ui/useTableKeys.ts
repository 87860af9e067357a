import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyFailure } from './notify.tsx';
import { gestureOf, movedTo, toggled, type SelectGesture } from './table-selection.ts';
import type { PagedRows } from './usePagedRows.ts';

interface TableKeysOptions<Row> {
  rows: PagedRows<Row>;
  total: number;
  keyOf: (row: Row) => string;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  onOpen?: (row: Row) => void;
  scroller: RefObject<HTMLDivElement | null>;
  headPx: number;
  rowHeight: number;
}

/** The active row, which has the focus while the table has it, and the handlers for keys and clicks on rows. */
export function useTableKeys<Row>(options: TableKeysOptions<Row>) {
  const { rows, total, onOpen, scroller, headPx, rowHeight } = options;
  const [active, setActive] = useState(0);
  const { select, setAnchor, selectable, clear } = useRowSelect(options);
  const takeFocus = useRef(false);
  useEffect(() => {
    if (!takeFocus.current) return;
    takeFocus.current = false;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${active}"]`);
    row?.focus({ preventScroll: true });
  }, [active, scroller]);

  const moveTo = (index: number): void => {
    const element = scroller.current;
    if (!element) return;
    takeFocus.current = true;
    scrollRowIntoView(element, index, rowHeight, headPx);
    setActive(index);
  };
  const open = (index: number): void => {
    const row = rows.rowAt(index);
    if (row !== undefined) onOpen?.(row);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const pageRows = Math.max(
      1,
      Math.floor(((scroller.current?.clientHeight ?? 0) - headPx) / rowHeight) - 1,
    );
    const onRow = (event.target as HTMLElement).dataset.index !== undefined;
    const target = onRow ? movedTo(event.key, active, total, pageRows) : undefined;
    if (target !== undefined) {
      moveTo(target);
      if (event.shiftKey) select(target, 'extend');
      else setAnchor(target);
    } else if (onRow && event.key === ' ') select(active, event.shiftKey ? 'extend' : 'toggle');
    else if (onRow && event.key === 'Enter') open(active);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey) && selectable)
      select(total - 1, 'extend', 0);
    else if (event.key === 'Escape' && clear()) event.stopPropagation();
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent<HTMLElement>): void => {
    const index = rowOf(event.target);
    if (index === undefined) return;
    moveTo(index);
    if (isControl(event.target)) return;
    const box = (event.target as HTMLElement).closest('[data-select]') !== null;
    select(index, box && !event.shiftKey ? 'toggle' : gestureOf(event));
  };
  const onDoubleClick = (event: MouseEvent<HTMLElement>): void => {
    const index = rowOf(event.target);
    if (index !== undefined && !isControl(event.target)) open(index);
  };
  const toggleAll = (): void => {
    if (!clear()) select(total - 1, 'extend', 0);
  };
  return { active, toggleAll, handlers: { onKeyDown, onClick, onDoubleClick } };
}

function scrollRowIntoView(element: HTMLElement, index: number, rowHeight: number, headPx: number): void {
  const top = index * rowHeight;
  const height = element.clientHeight - headPx;
  if (top < element.scrollTop) element.scrollTo({ top });
  else if (top + rowHeight > element.scrollTop + height) element.scrollTo({ top: top + rowHeight - height });
}

function rowOf(target: EventTarget): number | undefined {
  const index = (target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index;
  return index === undefined ? undefined : Number(index);
}

/** Whether the click was on an interactive element in the row. */
function isControl(target: EventTarget): boolean {
  return (target as HTMLElement).closest('a, button, [role="switch"]') !== null;
}

/** Selects one row, adds one, or selects a range, including rows that were never shown. */
function useRowSelect<Row>({ rows, total, keyOf, selected, onSelect }: TableKeysOptions<Row>) {
  const { t } = useTranslation();
  const anchor = useRef(0);
  const selectRange = async (from: number, to: number): Promise<void> => {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const range = rowsThere(rows, first, last) ?? (await rows.load(first, last));
    onSelect?.(new Set(range.map(keyOf)));
  };
  return {
    selectable: onSelect !== undefined && total > 0,
    setAnchor: (index: number): void => {
      anchor.current = index;
    },
    select: (index: number, gesture: SelectGesture, from?: number): void => {
      if (!onSelect || !selected || total === 0) return;
      if (gesture === 'extend') {
        selectRange(from ?? anchor.current, index).catch((error: unknown) =>
          notifyFailure(error, t('error.title')),
        );
        return;
      }
      anchor.current = index;
      const row = rows.rowAt(index);
      if (row === undefined) return;
      onSelect(gesture === 'toggle' ? toggled(selected, keyOf(row)) : new Set([keyOf(row)]));
    },
    /** Whether there was a selection to clear. */
    clear: (): boolean => {
      if (!selected || selected.size === 0) return false;
      onSelect?.(new Set());
      return true;
    },
  };
}

/** A range's rows if all of them are loaded: selecting with the arrow keys must not wait. */
function rowsThere<Row>(rows: PagedRows<Row>, first: number, last: number): Row[] | undefined {
  const found: Row[] = [];
  for (let index = first; index <= last; index++) {
    const row = rows.rowAt(index);
    if (row === undefined) return undefined;
    found.push(row);
  }
  return found;
}
