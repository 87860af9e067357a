import { oneLine } from '../../../../src-shared/source-list.ts';
import { isElement, nameOf, type HtmlElement, type HtmlNode } from './nodes.ts';
import { isRepeated, tableText } from '../tables/table.ts';

/** Columns that a cell may span (HTML standard, 4.9.11). */
const MAX_COLUMNS = 1000;
/** Characters that spans may repeat in one table: a header can hold a table whose header holds a table. A cell costs some without text. */
const MAX_REPEATED = 1_000_000;
const CELL_COST = 10;

interface Row {
  element: HtmlElement;
  inHead: boolean;
}

interface GridRow {
  /** By column; a cell that spans rows is in each. */
  cells: string[];
  /** Elements of the row by column; repeated over the columns of a span. */
  elements: HtmlElement[];
  header: boolean;
}

const SECTION = /^t(?:head|body|foot)$/;
const IN_TABLE = /^t(?:head|body|foot|r|d|h)$/;

/**
 * Rows in order, those of the head first and of the foot last; those of nested tables are not among them. Where a page leaves out end tags,
 * the parser nests sections in the last cell before them.
 */
function rowsOf(table: HtmlElement): Row[] {
  const parts: [Row[], Row[], Row[]] = [[], [], []];
  const stack: { element: HtmlElement; part: 0 | 1 | 2 }[] = [{ element: table, part: 1 }];
  for (let top = stack.pop(); top; top = stack.pop()) {
    const name = nameOf(top.element);
    const part = name === 'thead' ? 0 : name === 'tfoot' ? 2 : SECTION.test(name) ? 1 : top.part;
    if (name === 'tr') parts[part].push({ element: top.element, inHead: part === 0 });
    const inside = top.element.children.filter(isElement).filter((child) => IN_TABLE.test(nameOf(child)));
    stack.push(...inside.reverse().map((element) => ({ element, part })));
  }
  return parts.flat();
}

/** What is in a table but in no cell, and the caption. */
export function strayNodes(table: HtmlElement): HtmlNode[] {
  const strays: HtmlNode[] = [];
  const stack = [table];
  for (let top = stack.pop(); top; top = stack.pop()) {
    for (const node of top.children) {
      if (!isElement(node) || !IN_TABLE.test(nameOf(node))) strays.push(node);
      else if (!/^t[dh]$/.test(nameOf(node))) stack.push(node);
    }
  }
  return strays;
}

export function contentOf(cell: HtmlElement): HtmlNode[] {
  return cell.children.filter(
    (node) => !isElement(node) || !(SECTION.test(nameOf(node)) || nameOf(node) === 'tr'),
  );
}

function cellsOf(row: HtmlElement): HtmlElement[] {
  return row.children.filter(isElement).filter((cell) => /^t[dh]$/.test(nameOf(cell)));
}

const BLOCKS = new Set([
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'table',
  'pre',
  'article',
  'section',
  'main',
  'form',
]);

/** A table that only arranges parts of the page: its cells are read one after another. */
export function isLayout(table: HtmlElement): boolean {
  if (/^(?:none|presentation)$/.test(table.attribs['role'] ?? '')) return true;
  const rows = rowsOf(table).map(({ element }) => cellsOf(element));
  if (rows.some((cells) => cells.some((cell) => nameOf(cell) === 'th'))) return false;
  return rows.every((cells) => cells.length < 2) || rows.some((cells) => cells.some(hasBlocks));
}

function hasBlocks(cell: HtmlElement): boolean {
  const stack = [...cell.children];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!isElement(node)) continue;
    if (BLOCKS.has(node.name)) return true;
    stack.push(...node.children);
  }
  return false;
}

/** One line per row, as every table is read; `read` gives the text of a cell. */
export function tableLines(
  table: HtmlElement,
  isHidden: (element: HtmlElement) => boolean,
  read: (cell: HtmlElement) => string,
): string {
  const shown = rowsOf(table).filter(({ element }) => !isHidden(element));
  const rows = gridOf(shown, (cell) => (isHidden(cell) ? '' : read(cell))).filter(({ cells }) =>
    cells.some((cell) => cell !== ''),
  );
  if (!rows.some(({ elements }) => elements.some((cell) => nameOf(cell) === 'th')) && !rows[0]?.header)
    return tableText(rows.map(({ cells }) => cells));
  let names: string[] = [];
  const lines: string[] = [];
  rows.forEach((row, i) => {
    if (row.header && !isTitle(row)) {
      if (rows[i - 1]?.header !== true) names = [];
      names = row.cells.map((cell, column) => joined(names[column] ?? '', cell));
      if (rows[i + 1] === undefined) lines.push(plainRow(names));
    } else lines.push(rowText(row, names));
  });
  return lines.join('\n');
}

/** A row of one cell that spans all columns. */
function isTitle({ elements }: GridRow): boolean {
  return elements.length > 1 && new Set(elements).size === 1;
}

function rowText(row: GridRow, names: readonly string[]): string {
  if (new Set(row.elements).size < 2) return plainRow([row.cells.find(Boolean) ?? '']);
  if (names.some((name) => name !== '')) return namedRow(names, spread(row));
  const [first, ...rest] = row.cells;
  const named = row.elements[0] && nameOf(row.elements[0]) === 'th' && first !== '';
  return named ? namedRow([first ?? ''], [rest.filter(Boolean).join(' | ')]) : plainRow(row.cells);
}

/** With the text of a cell in all columns that it spans. */
function spread({ cells, elements }: GridRow): string[] {
  const count = new Set(elements).size;
  const texts: string[] = [];
  for (const [i, text] of cells.entries()) {
    const before = texts[i - 1] ?? '';
    const isCovered = text === '' && i > 0 && elements[i] === elements[i - 1];
    texts.push(isCovered && isRepeated(before, count) ? before : text);
  }
  return texts;
}

function plainRow(cells: readonly string[]): string {
  return `- ${cells.map(oneLine).filter(Boolean).join(' | ')}`;
}

function namedRow(names: readonly string[], cells: readonly string[]): string {
  const named = cells.flatMap((cell, i) => {
    const [name, text] = [oneLine(names[i] ?? ''), oneLine(cell)];
    return text === '' ? [] : [name === '' ? text : `${name.replace(/:$/, '')}: ${text}`];
  });
  return `- ${named.join('; ')}`;
}

/** A column's name from a header of several rows. */
function joined(above: string, name: string): string {
  if (above === '' || above === name) return name;
  return name === '' ? above : `${above} ${name}`;
}

/** The cells in their columns (HTML standard, 4.9.12.1). A cell's text is in the first column of its span, a header's in all. */
function gridOf(rows: readonly Row[], read: (cell: HtmlElement) => string): GridRow[] {
  const grid: GridRow[] = [];
  let carried: ({ text: string; element: HtmlElement; left: number } | undefined)[] = [];
  let left = MAX_REPEATED;
  const mayRepeat = (text: string): boolean => {
    const fits = text.length + CELL_COST <= left;
    if (fits) left -= text.length + CELL_COST;
    return fits;
  };
  for (const { element, inHead } of rows) {
    const row: GridRow = { cells: [], elements: [], header: false };
    const own = cellsOf(element);
    const next: typeof carried = [];
    const put = (text: string, cell: HtmlElement, rowsLeft: number): void => {
      if (rowsLeft > 0) next[row.cells.length] = { text, element: cell, left: rowsLeft };
      row.cells.push(text);
      row.elements.push(cell);
    };
    const putCarried = (): void => {
      for (let above; (above = carried[row.cells.length]) && mayRepeat(above.text);)
        put(above.text, above.element, above.left - 1);
    };
    for (const cell of own) {
      putCarried();
      const text = read(cell);
      const columns = Math.min(span(cell, 'colspan') || 1, MAX_COLUMNS);
      const rowspan = span(cell, 'rowspan') ?? 1;
      const below = rowspan === 0 ? Infinity : rowspan - 1;
      put(text, cell, below);
      const copy = inHead || nameOf(cell) === 'th' ? text : '';
      for (let i = 1; i < columns; i++) {
        if (mayRepeat(copy)) put(copy, cell, below);
        else if (mayRepeat('')) put('', cell, below);
        else break;
      }
    }
    while (row.cells.length < carried.length && mayRepeat('')) {
      putCarried();
      if (row.cells.length < carried.length) put('', element, 0);
    }
    row.header = row.cells.length > 1 && (inHead || own.every((cell) => nameOf(cell) === 'th'));
    carried = next;
    grid.push(row);
  }
  return grid;
}

function span({ attribs }: HtmlElement, name: string): number | undefined {
  const number = Number.parseInt(attribs[name] ?? '', 10);
  return number >= 0 ? number : undefined;
}
