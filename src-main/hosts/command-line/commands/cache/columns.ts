import stringWidth from 'string-width';

/**
 * Rows as lines in which each column is as wide as its widest cell, two spaces apart. In one pass over the rows: a drawn table, whose
 * layout asks every cell for its neighbours, takes minutes for tens of thousands.
 */
export function columns(
  rows: readonly (readonly string[])[],
  aligned: readonly ('left' | 'right')[],
): string[] {
  const widths = aligned.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[column] ?? '')), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const pad = ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
        return aligned[column] === 'right' ? pad + cell : cell + pad;
      })
      .join('  ')
      .trimEnd(),
  );
}
