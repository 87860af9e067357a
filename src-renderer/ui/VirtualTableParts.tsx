import { Checkbox, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { memo, type CSSProperties, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './VirtualTable.module.css';

export interface Column<Row, Sort extends string = string> {
  id: string;
  header: string;
  /** A CSS grid track, e.g. "90px" or "minmax(180px, 2fr)". */
  width: string;
  /** Right-aligned, for numbers. */
  align?: 'end';
  /** The core's sort key for this column. */
  sort?: Sort;
  /** Hidden if the table is narrower than this, in pixels. */
  from?: number;
  /** `active`: this row is in the tab order; buttons of other rows get tabIndex -1. */
  cell: (row: Row, active: boolean) => ReactNode;
}

export interface Sorting<Sort extends string = string> {
  by: Sort;
  descending: boolean;
}

interface HeadProps<Row, Sort extends string> {
  columns: readonly Column<Row, Sort>[];
  template: string;
  minWidth: number | undefined;
  sorting: Sorting<Sort> | undefined;
  onSort: ((sorting: Sorting<Sort>) => void) | undefined;
  /** undefined: rows are not selectable. */
  selection: { all: boolean; some: boolean; onToggle: () => void } | undefined;
}

export function TableHead<Row, Sort extends string>(props: HeadProps<Row, Sort>) {
  const { columns, template, minWidth, sorting, onSort, selection } = props;
  const { t } = useTranslation();
  return (
    <div role="rowgroup" className={classes.headGroup} style={{ minWidth }}>
      <div role="row" aria-rowindex={1} className={classes.head} style={{ gridTemplateColumns: template }}>
        {selection && (
          <div role="columnheader" className={classes.headCell}>
            <Checkbox
              size="xs"
              aria-label={t('table.selectAll')}
              checked={selection.all}
              indeterminate={selection.some && !selection.all}
              onChange={selection.onToggle}
            />
          </div>
        )}
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sorting={sorting} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

function HeadCell<Row, Sort extends string>({
  column,
  sorting,
  onSort,
}: {
  column: Column<Row, Sort>;
  sorting: Sorting<Sort> | undefined;
  onSort: ((sorting: Sorting<Sort>) => void) | undefined;
}) {
  const { header, sort, align } = column;
  const sorted = sort !== undefined && sorting?.by === sort;
  const className = `${classes.headCell ?? ''} ${align === 'end' ? (classes.end ?? '') : ''}`;
  if (sort === undefined || !onSort) {
    return (
      <div role="columnheader" className={className}>
        {header}
      </div>
    );
  }
  const descending = sorted && sorting.descending;
  const Arrow = descending ? IconArrowDown : IconArrowUp;
  const direction = descending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" aria-sort={sorted ? direction : 'none'} className={className}>
      <UnstyledButton
        className={`${classes.sort ?? ''} ${sorted ? (classes.sorted ?? '') : ''}`}
        // Numbers sort in descending order first, names in ascending order.
        onClick={() => onSort({ by: sort, descending: sorted ? !descending : align === 'end' })}
      >
        {header}
        {sorted && <Arrow size={13} aria-hidden />}
      </UnstyledButton>
    </div>
  );
}

interface RowProps<Row> {
  row: Row | undefined;
  index: number;
  top: number;
  height: number;
  template: string;
  columns: readonly Column<Row>[];
  active: boolean;
  /** undefined: rows are not selectable. */
  selected: boolean | undefined;
}

function TableRowOf<Row>({ row, index, top, height, template, columns, active, selected }: RowProps<Row>) {
  const { t } = useTranslation();
  const style: CSSProperties = { gridTemplateColumns: template, height, transform: `translateY(${top}px)` };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      aria-busy={row === undefined || undefined}
      data-index={index}
      tabIndex={active ? 0 : -1}
      className={classes.row}
      style={style}
    >
      {selected !== undefined && (
        <div role="gridcell" className={classes.cell}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            data-select
            aria-label={t('table.select')}
            checked={selected}
            readOnly
          />
        </div>
      )}
      {columns.map((column) => (
        <div
          key={column.id}
          role="gridcell"
          className={`${classes.cell ?? ''} ${column.align === 'end' ? (classes.end ?? '') : ''}`}
        >
          {row === undefined ? <div className={classes.pending} /> : column.cell(row, active)}
        </div>
      ))}
    </div>
  );
}

/** Memoised: scrolling renders only the rows that come into view. */
export const TableRow = memo(TableRowOf) as typeof TableRowOf;
