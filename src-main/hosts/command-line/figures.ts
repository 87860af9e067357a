import Table from 'cli-table3';

/** A table without lines between rows; the first `texts` columns are text, the others numbers. */
export function figureTable(head: string[], texts: number): Table.Table {
  return new Table({
    head,
    colAligns: head.map((_, i) => (i < texts ? 'left' : 'right')),
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
}

export function milliseconds(value: number): string {
  return value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

/** Three decimals; the magnitude of what they do not show. */
export function small(value: number): string {
  return value === 0 ? '0' : value < 0.001 ? value.toExponential(0) : value.toFixed(3);
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
