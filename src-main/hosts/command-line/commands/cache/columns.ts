import stringWidth from 'string-width';

/**
 * Formats rows as lines with columns as wide as their widest cell, two spaces apart. Uses one pass over the rows: a
 * table library whose layout asks every cell for its neighbours takes minutes for tens of thousands.
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
