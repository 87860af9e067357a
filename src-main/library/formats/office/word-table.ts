import { attribute, element, elements, type XmlElement } from '../xml.ts';
import { isRepeated } from '../tables/table.ts';
import { oneLine } from './blocks.ts';
import { isOn, value } from './word-numbers.ts';

/** No table has more columns (Word allows 63). */
const MAX_COLUMNS = 1024;

/** A table's rows, each column in its place: merged cells repeat their text, to the right only below a header. */
export function readRows(
  table: XmlElement,
  readCell: (cell: XmlElement) => string,
  remark: (kind: string) => void,
): string[][] {
  const rows: string[][] = [];
  const headers: string[][] = [];
  const named = hasHeader(table);
  let above: string[] = [];
  for (const row of inner(table, 'tr')) {
    const properties = element(row, 'trPr');
    if (element(properties, 'del')) {
      remark('deletion');
      continue;
    }
    const hidden = element(properties, 'hidden');
    if (hidden && isOn(hidden)) {
      remark('hidden');
      continue;
    }
    if (element(properties, 'ins')) remark('insertion');
    const isHeader = element(properties, 'tblHeader') !== undefined && rows.length === 0;
    const cells = readRow(
      row,
      above,
      readCell,
      (text, count) => isHeader || (named && isRepeated(text, count)),
    );
    above = cells;
    (isHeader ? headers : rows).push(cells);
  }
  if (headers.length > 1) return [joinHeaders(headers), ...rows];
  return [...headers.map((row) => row.map((text, i) => (i > 0 && text === row[i - 1] ? '' : text))), ...rows];
}

function readRow(
  row: XmlElement,
  above: readonly string[],
  readCell: (cell: XmlElement) => string,
  repeats: (text: string, cells: number) => boolean,
): string[] {
  const cells: string[] = [];
  const skipped = Number(value(element(row, 'trPr'), 'gridBefore') ?? 0);
  for (let i = 0; i < skipped && i < MAX_COLUMNS; i += 1) cells.push('');
  const own = inner(row, 'tc');
  for (const cell of own) {
    const properties = element(cell, 'tcPr');
    if (element(properties, 'cellDel')) continue;
    const merge = element(properties, 'vMerge');
    const goesOn = merge !== undefined && (attribute(merge, 'val') ?? 'continue') === 'continue';
    const text = goesOn ? (above[cells.length] ?? '') : readCell(cell);
    const span = Math.min(Number(value(properties, 'gridSpan') ?? 1), MAX_COLUMNS);
    cells.push(text);
    for (let i = 1; i < span && cells.length < MAX_COLUMNS; i += 1)
      cells.push(repeats(text, own.length) ? text : '');
  }
  return cells;
}

/** Several rows of column names as one. */
function joinHeaders(rows: readonly string[][]): string[] {
  const width = Math.max(...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, i) =>
    [...new Set(rows.map((row) => oneLine(row[i] ?? '')))].filter(Boolean).join(' '),
  );
}

/** Rows or cells, also those inside content controls and tracked changes. */
function inner(parent: XmlElement, name: string): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (child.name === name) return [child];
    return ['sdt', 'sdtContent', 'customXml', 'ins', 'moveTo'].includes(child.name) ? inner(child, name) : [];
  });
}

/** Whether a table's first row is formatted as a header; by default it is. */
export function hasHeader(table: XmlElement): boolean {
  const look = element(table, 'tblPr', 'tblLook');
  const bits = parseInt((look && attribute(look, 'val')) ?? '0020', 16);
  const first = look && attribute(look, 'firstRow');
  return first === undefined ? (bits & 0x20) !== 0 : first !== '0' && first !== 'false';
}

/** Rows without a header. */
export function plainRows(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((row) => row.map(oneLine).filter(Boolean).join(' | '));
  return lines
    .filter((line) => line !== '')
    .map((line) => `- ${line}`)
    .join('\n');
}
