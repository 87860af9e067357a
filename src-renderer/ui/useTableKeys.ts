import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from 'react';
import { gestureOf, movedTo } from './table-selection.ts';
import { useRowSelect, type RowSelectOptions } from './useRowSelect.ts';

interface TableKeysOptions<Row> extends RowSelectOptions<Row> {
  onOpen?: (row: Row) => void;
  scroller: RefObject<HTMLDivElement | null>;
  headPx: number;
  rowHeight: number;
}

/** The active row, which has the focus while the table has it, and the handlers for keys and clicks on rows. */
export function useTableKeys<Row>(options: TableKeysOptions<Row>) {
  const { rows, total, onOpen, scroller, headPx, rowHeight } = options;
  const [active, setActive] = useState(0);
  const { select, selectAll, setAnchor, clear } = useRowSelect(options);
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
  /** Whether the active row handled the key. */
  const onRowKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (key === ' ') select(active, shiftKey ? 'extend' : 'toggle');
    else if (key === 'Enter') open(active);
    else {
      const height = (scroller.current?.clientHeight ?? 0) - headPx;
      const target = movedTo(key, active, total, Math.max(1, Math.floor(height / rowHeight) - 1));
      if (target === undefined) return false;
      moveTo(target);
      if (shiftKey) select(target, 'extend');
      else setAnchor(target);
    }
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const { key, target } = event;
    if (key === 'Escape') {
      if (!clear()) return;
      event.stopPropagation();
    } else if (key === 'a' && (event.ctrlKey || event.metaKey)) {
      if (!selectAll()) return;
    } else if ((target as HTMLElement).dataset.index === undefined || !onRowKey(event)) return;
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
    if (!clear()) selectAll();
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
