/**
 * Rows as text. With a header, every row repeats the names of its columns, since a chunk from the middle of a table is meaningless without
 * them.
 */
export function tableText(rows: readonly (readonly string[])[]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ''));
  const [header, ...rest] = filled;
  if (!header || rest.length === 0 || !isHeader(header)) return filled.map(plainRow).join('\n');
  return rest.map((row) => namedRow(header, row)).join('\n');
}

/** Names: all present, all different, none a number. */
function isHeader(row: readonly string[]): boolean {
  const names = row.map((cell) => cell.trim());
  return (
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name) => name !== '' && name.length <= 80 && Number.isNaN(Number(name)))
  );
}

function plainRow(row: readonly string[]): string {
  return `- ${row.map(oneLine).filter(Boolean).join(' | ')}`;
}

function namedRow(header: readonly string[], row: readonly string[]): string {
  const cells = row.flatMap((cell, i) => {
    const value = oneLine(cell);
    if (value === '') return [];
    const name = header[i]?.trim() ?? '';
    return [name === '' ? value : `${name}: ${value}`];
  });
  return `- ${cells.join('; ')}`;
}

function oneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim();
}
