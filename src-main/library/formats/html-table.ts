import { isElement, nameOf, type HtmlElement } from './html-nodes.ts';
import { tableText } from './table.ts';

/** Limits on what spans may repeat: the HTML standard's for columns (4.9.11), and one for all cells. */
const MAX_COLUMNS = 1000;
const MAX_CELLS = 1_000_000;

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

/** Rows in order, those of the head first and of the foot last; those of nested tables are not among them. */
function rowsOf(table: HtmlElement): Row[] {
  const parts: [Row[], Row[], Row[]] = [[], [], []];
  for (const child of table.children.filter(isElement)) {
    const name = nameOf(child);
    const part = name === 'thead' ? 0 : name === 'tfoot' ? 2 : 1;
    if (name === 'tr') parts[1].push({ element: child, inHead: false });
    else if (/^t(?:head|body|foot)$/.test(name))
      for (const row of child.children.filter(isElement))
        if (nameOf(row) === 'tr') parts[part].push({ element: row, inHead: part === 0 });
  }
  return parts.flat();
}

function cellsOf(row: HtmlElement): HtmlElement[] {
  return row.children.filter(isElement).filter((cell) => /^t[dh]$/.test(nameOf(cell)));
}

const BLOCKS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'pre', 'article', 'section', 'main', 'form']);

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
  const rows = gridOf(shown, (cell) => (isHidden(cell) ? '' : read(cell))).filter(({ cells }) => cells.some((cell) => cell !== ''));
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
  if (names.some((name) => name !== '')) return namedRow(names, row.cells);
  const [first, ...rest] = row.cells;
  const named = row.elements[0] && nameOf(row.elements[0]) === 'th' && first !== '';
  return named ? namedRow([first ?? ''], [rest.filter(Boolean).join(' | ')]) : plainRow(row.cells);
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

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A column's name from a header of several rows. */
function joined(above: string, name: string): string {
  if (above === '' || above === name) return name;
  return name === '' ? above : `${above} ${name}`;
}

/** The cells in their columns (HTML standard, 4.9.12.1). A cell's text stands in the first column of its span, a header's in all. */
function gridOf(rows: readonly Row[], read: (cell: HtmlElement) => string): GridRow[] {
  const grid: GridRow[] = [];
  let carried: ({ text: string; element: HtmlElement; left: number } | undefined)[] = [];
  let total = 0;
  for (const { element, inHead } of rows) {
    const row: GridRow = { cells: [], elements: [], header: false };
    const own = cellsOf(element);
    const next: typeof carried = [];
    const put = (text: string, cell: HtmlElement, left: number): void => {
      if (left > 0) next[row.cells.length] = { text, element: cell, left };
      row.cells.push(text);
      row.elements.push(cell);
    };
    const putCarried = (): void => {
      for (let above; (above = carried[row.cells.length]); ) put(above.text, above.element, above.left - 1);
    };
    for (const cell of own) {
      putCarried();
      const text = read(cell);
      const columns = Math.min(span(cell, 'colspan') || 1, MAX_COLUMNS);
      const below = (span(cell, 'rowspan') ?? 1) === 0 ? Infinity : (span(cell, 'rowspan') ?? 1) - 1;
      const repeats = inHead || nameOf(cell) === 'th';
      for (let i = 0; i < columns && (i === 0 || total < MAX_CELLS); i++, total++)
        put(i === 0 || repeats ? text : '', cell, below);
    }
    for (; row.cells.length < carried.length && total < MAX_CELLS; total++) {
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
