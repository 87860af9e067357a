import { useMemo } from 'react';
import { useFormat } from './useFormat.ts';
import type { Column } from './VirtualTableParts.tsx';

/** `none` stands for null; absent: a dash. */
type ColumnOf = <Row, Sort extends string>(
  head: Omit<Column<Row, Sort>, 'cell' | 'align'>,
  value: (row: Row) => number | null,
  none?: string,
) => Column<Row, Sort>;

/** Makes columns of numbers and sizes, which are right-aligned, and of times. */
export function useColumnKinds(): { number: ColumnOf; bytes: ColumnOf; ago: ColumnOf } {
  const format = useFormat();
  return useMemo(
    () => ({
      number: columnOf((value) => format.number(value), { align: 'end' }),
      bytes: columnOf(format.bytes, { align: 'end' }),
      ago: columnOf(format.ago, {}),
    }),
    [format],
  );
}

function columnOf(show: (value: number) => string, kind: { align?: 'end' }): ColumnOf {
  return (head, value, none = '–') => ({
    ...head,
    ...kind,
    cell: (row) => {
      const shown = value(row);
      return shown === null ? none : show(shown);
    },
  });
}
