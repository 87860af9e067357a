import { columnName } from '../../../../src-shared/sheets.ts';
import { tooLarge } from '../errors.ts';
import { rowOf, tableLines, type TableLine } from '../tables/table.ts';
import type { TableRow } from '../tables/header.ts';

/** Limit on the text of a workbook: few strings may stand in millions of cells. */
const MAX_TEXT_UNITS = 32 * 1024 * 1024;
/** Limit on the steps of repeating merged cells. */
const MAX_MERGE_STEPS = 2_000_000;
const MAX_NAMED_CELLS = 3;

export interface Range {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** A sheet of any kind of workbook. Rows and columns count from 0. */
export class Sheet {
  readonly name: string;
  readonly hidden: boolean;
  readonly rows = new Map<number, Map<number, string>>();
  readonly notes = new Map<number, Map<number, string>>();
  readonly merges: Range[] = [];
  readonly headerRows = new Set<number>();
  /** Rows whose only cell is merged over others. */
  readonly titleRows = new Set<number>();
  readonly hiddenRows = new Set<number>();
  readonly hiddenColumns = new Set<number>();
  /** Texts of its text boxes, charts and diagrams. */
  readonly drawings: string[] = [];
  /** Cells with a formula whose result is not stored. */
  readonly uncomputed: string[] = [];
  readonly errors: string[] = [];
  /** Further sentences about it. */
  readonly warnings: string[] = [];

  constructor(name: string, hidden: boolean) {
    this.name = name;
    this.hidden = hidden;
  }

  set(row: number, column: number, text: string): void {
    if (text.trim() === '') return;
    const cells = this.rows.get(row);
    if (cells) cells.set(column, text);
    else this.rows.set(row, new Map([[column, text]]));
    if (/^#(?:DIV\/0!|N\/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!)$/.test(text))
      this.errors.push(cellName(row, column));
  }

  addNote(row: number, column: number, text: string): void {
    if (text.trim() === '') return;
    const notes = this.notes.get(row) ?? new Map<number, string>();
    const before = notes.get(column);
    this.notes.set(row, notes.set(column, before === undefined ? text : `${before}; ${text}`));
  }
}

export function cellName(row: number, column: number): string {
  return `${columnName(column)}${row + 1}`;
}

/** The texts of sheets, below one limit. */
export class SheetTexts {
  readonly warnings: string[] = [];
  readonly #file: string;
  #units = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** A page with the sheet's name as its heading; its text is '' when the sheet is empty. DOCUMENT_TOO_LARGE. */
  page(sheet: Sheet): {
    label: string;
    text: string;
    headings: { start: number; level: number; title: string }[];
  } {
    const title = sheet.hidden ? `${sheet.name} (hidden sheet)` : sheet.name;
    const table = this.#table(sheet);
    const text = [table, ...sheet.drawings].filter(Boolean).join('\n\n');
    if (text === '') {
      this.warnings.push(...sheet.warnings);
      return { label: title, text: '', headings: [] };
    }
    this.#warn(sheet);
    return { label: title, text: headingOf(title) + text, headings: [{ start: 0, level: 2, title }] };
  }

  #table(sheet: Sheet): string {
    repeatMerged(sheet);
    const lines: string[] = [];
    for (const { text: line } of linesOf(sheet)) {
      this.#units += line.length;
      if (this.#units > MAX_TEXT_UNITS)
        throw tooLarge(
          this.#file,
          `its sheets up to “${sheet.name}” have more than ${MAX_TEXT_UNITS / 1024 / 1024} million characters`,
        );
      lines.push(line);
    }
    return lines.join('\n');
  }

  #warn(sheet: Sheet): void {
    const where = `sheet “${sheet.name}”`;
    const say = (text: string): number => this.warnings.push(text);
    if (sheet.hidden) say(`Hidden ${where} was read and is marked.`);
    const rows = [...sheet.hiddenRows].filter((row) => sheet.rows.has(row));
    if (rows.length > 0) say(`Hidden rows in ${where} were read and are marked: ${rows.length}.`);
    const columns = [...sheet.hiddenColumns].filter((column) =>
      [...sheet.rows.values()].some((cells) => cells.has(column)),
    );
    if (columns.length > 0)
      say(`Hidden columns in ${where} were read: ${some(columns.sort((a, b) => a - b).map(columnName))}.`);
    if (sheet.uncomputed.length > 0)
      say(
        `Formulas in ${where} whose results are not stored in the file were read as formulas: ${some(sheet.uncomputed)}.`,
      );
    if (sheet.errors.length > 0) say(`Cells in ${where} show errors: ${some(sheet.errors)}.`);
    for (const warning of sheet.warnings) say(warning);
  }
}

/** What precedes a sheet's text. */
export function headingOf(title: string): string {
  return `## ${title}\n\n`;
}

/** Of a sheet whose merged cells were repeated. */
export function linesOf(sheet: Sheet): Generator<TableLine> {
  return tableLines(rowsInOrder(sheet), { assumeHeader: false, hiddenColumns: sheet.hiddenColumns });
}

/** The first names, and how many more there are. */
function some(names: readonly string[]): string {
  const more = names.length - MAX_NAMED_CELLS;
  return `${names.slice(0, MAX_NAMED_CELLS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Rows in order; an empty one for each gap. */
function* rowsInOrder(sheet: Sheet): Generator<TableRow> {
  const numbers = [...new Set([...sheet.rows.keys(), ...sheet.notes.keys()])].sort((a, b) => a - b);
  let last = numbers[0] ?? 0;
  for (const number of numbers) {
    if (number > last + 1) yield rowOf([]);
    last = number;
    const notes = sheet.notes.get(number);
    yield {
      number: number + 1,
      cells: new Map([...(sheet.rows.get(number) ?? [])].sort(([a], [b]) => a - b)),
      ...(sheet.headerRows.has(number) && { header: true }),
      ...(sheet.titleRows.has(number) && { title: true }),
      ...(sheet.hiddenRows.has(number) && { mark: 'hidden row' }),
      ...(notes && { notes }),
    };
  }
}

/** The value of a merged cell belongs to all rows and columns that it spans. A row that has nothing else is a title: it stays one cell. */
function repeatMerged(sheet: Sheet): void {
  const filled = new Map([...sheet.rows].map(([row, cells]) => [row, cells.size]));
  const right = [...sheet.rows.values()].reduce((most, cells) => Math.max(most, ...cells.keys()), 0);
  let steps = 0;
  for (const { top, left, bottom, right: end } of sheet.merges) {
    const text = sheet.rows.get(top)?.get(left);
    if (text === undefined) continue;
    for (let row = top; row <= bottom && steps < MAX_MERGE_STEPS; row++, steps++) {
      const cells = sheet.rows.get(row);
      const isTitle = row === top && filled.get(row) === 1;
      if (isTitle && end > left) sheet.titleRows.add(row);
      if (!cells || isTitle) continue;
      for (let column = left; column <= Math.min(end, right) && steps < MAX_MERGE_STEPS; column++, steps++)
        if (!cells.has(column)) cells.set(column, text);
    }
  }
  if (steps >= MAX_MERGE_STEPS)
    sheet.warnings.push(`Not all merged cells of sheet “${sheet.name}” were repeated.`);
}
