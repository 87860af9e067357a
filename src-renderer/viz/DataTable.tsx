import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import tableClasses from './DataTable.module.css';
import classes from './viz.module.css';

export interface Column {
  name: string;
  /** Right-aligned, for numbers. */
  numeric?: boolean;
}

const ROW = 26;

/** A picture's numbers as a table; only visible rows are in the DOM, and aria attributes give the row count. */
export function DataTable({
  label,
  columns,
  rows,
  cells,
}: {
  label: string;
  columns: readonly Column[];
  rows: number;
  /** The cells of a row, one per column. */
  cells: (row: number) => readonly string[];
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div ref={scroller} className={classes.table} tabIndex={0} role="group" aria-label={label}>
      <table className={tableClasses.table} aria-rowcount={rows + 1}>
        <thead>
          <tr>
            {columns.map(({ name, numeric }) => (
              <th key={name} scope="col" data-numeric={numeric}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} />}
          {items.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2} style={{ height: ROW }}>
              {cells(index).map((cell, column) => (
                <td key={column} data-numeric={columns[column]?.numeric}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <Spacer height={after} />}
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ height }: { height: number }) {
  return (
    <tr aria-hidden style={{ height }}>
      <td />
    </tr>
  );
}
