import { useRef } from 'react';
import { notifyFailure } from './notify.tsx';
import { toggled, type SelectGesture } from './table-selection.ts';
import type { PagedRows } from './usePagedRows.ts';

export interface RowSelectOptions<Row> {
  rows: PagedRows<Row>;
  total: number;
  keyOf: (row: Row) => string;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
}

/** Selects one row, adds one, or selects a range, including rows that were never shown. */
export function useRowSelect<Row>({ rows, total, keyOf, selected, onSelect }: RowSelectOptions<Row>) {
  const anchor = useRef(0);
  const selectRange = (from: number, to: number): void => {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    // Selecting with the arrow keys must not wait for rows that are there.
    const range = loadedRows(rows, first, last);
    if (range) return onSelect?.(new Set(range.map(keyOf)));
    rows.load(first, last).then((loaded) => onSelect?.(new Set(loaded.map(keyOf))), notifyFailure);
  };
  return {
    setAnchor: (index: number): void => {
      anchor.current = index;
    },
    select: (index: number, gesture: SelectGesture): void => {
      if (!onSelect || !selected || total === 0) return;
      if (gesture === 'extend') return selectRange(anchor.current, index);
      anchor.current = index;
      const row = rows.rowAt(index);
      if (row === undefined) return;
      onSelect(gesture === 'toggle' ? toggled(selected, keyOf(row)) : new Set([keyOf(row)]));
    },
    /** Whether there is something to select. */
    selectAll: (): boolean => {
      if (!onSelect || total === 0) return false;
      selectRange(0, total - 1);
      return true;
    },
    /** Whether there was a selection to clear. */
    clear: (): boolean => {
      if (!selected || selected.size === 0) return false;
      onSelect?.(new Set());
      return true;
    },
  };
}

/** A range's rows; undefined if one of them is not loaded. */
function loadedRows<Row>(rows: PagedRows<Row>, first: number, last: number): Row[] | undefined {
  const range: Row[] = [];
  for (let index = first; index <= last; index++) {
    const row = rows.rowAt(index);
    if (row === undefined) return undefined;
    range.push(row);
  }
  return range;
}
