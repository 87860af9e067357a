import { Loader } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FailureAlert } from './FailureAlert.tsx';
import type { PagedRows } from './usePagedRows.ts';
import { useTableKeys } from './useTableKeys.ts';
import { TableHead, TableRow, type Column, type Sorting } from './VirtualTableParts.tsx';
import classes from './VirtualTable.module.css';

const HEAD_PX = 36;
const OVERSCAN_ROWS = 8;

interface VirtualTableProps<Row, Sort extends string> {
  /** For screen readers. */
  label: string;
  rows: PagedRows<Row>;
  columns: readonly Column<Row, Sort>[];
  keyOf: (row: Row) => string;
  rowHeight?: number;
  sorting?: Sorting<Sort>;
  onSort?: (sorting: Sorting<Sort>) => void;
  /** Keys of selected rows; absent: rows are not selectable. */
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  /** Called on Enter or a double click on a row. */
  onOpen?: (row: Row) => void;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** A change (filter or sorting) scrolls to the first row. */
  view?: string;
  /** Index of a row to scroll to once there are rows, and again when it changes. */
  target?: number | undefined;
  /** Of all columns together, in pixels; a narrower table scrolls sideways. */
  minWidth?: number;
}

/**
 * A table of any length over a procedure of the core. Only visible rows are in the DOM; all have the same height, so
 * that nothing moves when rows arrive. Arrow keys, Page Up and Down, Home and End move; Space and Shift select; Ctrl A
 * selects all; Enter opens; Escape clears the selection.
 */
export function VirtualTable<Row, Sort extends string = string>(props: VirtualTableProps<Row, Sort>) {
  const { label, rows, keyOf, rowHeight = 40, sorting, onSort, selected, view = '' } = props;
  const total = rows.total ?? 0;
  const scroller = useRef<HTMLDivElement>(null);
  const { ref: sizeRef, width } = useElementSize();
  const { columns, template } = useColumns(props.columns, width, selected !== undefined);
  const keys = useTableKeys({ ...props, total, scroller, headPx: HEAD_PX, rowHeight });
  const active = Math.min(keys.active, Math.max(0, total - 1));
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN_ROWS,
    scrollMargin: HEAD_PX,
    // The active row stays in the DOM while scrolling, so that the focus is not lost.
    rangeExtractor: useCallback((range: Range) => withActive(range, active), [active]),
  });
  const items = virtualizer.getVirtualItems();
  useVisible(rows, virtualizer.range, total);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [view]);
  const { target, minWidth } = props;
  useEffect(() => {
    if (target !== undefined && target < total) virtualizer.scrollToIndex(target, { align: 'center' });
  }, [virtualizer, target, total]);
  return (
    <div className={classes.frame}>
      <div
        ref={useMergedRef(scroller, sizeRef)}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.total === undefined ? -1 : total + 1}
        aria-colcount={columns.length + (selected ? 1 : 0)}
        aria-multiselectable={selected ? true : undefined}
        aria-busy={rows.total === undefined || rows.stale}
        className={classes.grid}
        {...keys.handlers}
      >
        <TableHead
          columns={columns}
          template={template}
          minWidth={minWidth}
          sorting={sorting}
          onSort={onSort}
          selection={
            selected && {
              all: total > 0 && selected.size >= total,
              some: selected.size > 0,
              onToggle: keys.toggleAll,
            }
          }
        />
        <div
          role="rowgroup"
          className={`${classes.body ?? ''} ${rows.stale ? (classes.stale ?? '') : ''}`}
          style={{ height: total * rowHeight, minWidth }}
        >
          {items.map(({ index, start }) => {
            const row = rows.rowAt(index);
            return (
              <TableRow
                key={index}
                row={row}
                index={index}
                top={start - HEAD_PX}
                height={rowHeight}
                template={template}
                columns={columns}
                active={index === active}
                selected={selected && row !== undefined && selected.has(keyOf(row))}
              />
            );
          })}
        </div>
      </div>
      <Message rows={rows} empty={props.empty} />
    </div>
  );
}

/** Replaces the rows: a failure, a loading state, or the reason why there are none. */
function Message<Row>({ rows, empty }: { rows: PagedRows<Row>; empty: ReactNode }) {
  const { t } = useTranslation();
  if (rows.failure) {
    return (
      <div className={classes.message}>
        <FailureAlert failure={rows.failure} onRetry={rows.retry} />
      </div>
    );
  }
  if (rows.total !== undefined && rows.total > 0) return null;
  return (
    <div className={classes.message}>
      {rows.total === undefined ? <Loader size="sm" aria-label={t('loading')} /> : empty}
    </div>
  );
}

/** The columns that fit. */
function useColumns<Row, Sort extends string>(
  all: readonly Column<Row, Sort>[],
  width: number,
  selectable: boolean,
): { columns: readonly Column<Row, Sort>[]; template: string } {
  // Returns the same array unless a threshold is crossed, so that rows are not rendered again.
  const shown = all.filter(({ from }) => from === undefined || width === 0 || width >= from);
  const signature = shown.map(({ id }) => id).join(' ');
  return useMemo(() => {
    const ids = new Set(signature.split(' '));
    const columns = all.filter(({ id }) => ids.has(id));
    const tracks = columns.map((column) => column.width).join(' ');
    return { columns, template: selectable ? `18px ${tracks}` : tracks };
  }, [all, signature, selectable]);
}

function useVisible<Row>(
  { show }: PagedRows<Row>,
  range: { startIndex: number; endIndex: number } | null,
  total: number,
): void {
  const first = range?.startIndex ?? 0;
  const last = range?.endIndex ?? 0;
  useEffect(() => {
    if (total > 0) show(first, last);
  }, [show, first, last, total]);
}

function withActive(range: Range, active: number): number[] {
  const shown = defaultRangeExtractor(range);
  if (active >= range.count || shown.includes(active)) return shown;
  return active < (shown[0] ?? 0) ? [active, ...shown] : [...shown, active];
}
