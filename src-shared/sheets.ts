/** Extensions of documents that consist of sheets: workbooks, and files of one table. */
export const WORKBOOKS = 'xlsx xlsm xltx xltm xlsb xls xlt ods ots fods';
export const PLAIN_TABLES = 'csv tsv tab';

const FORMATS = new Set(`${WORKBOOKS} ${PLAIN_TABLES}`.split(' '));

/** Whether documents of this extension can be shown as a grid and queried. */
export function hasSheets(format: string): boolean {
  return FORMATS.has(format);
}

export function isSheetFile(path: string): boolean {
  return hasSheets(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}

/** A column's name in spreadsheet programs; columns count from 0. */
export function columnName(column: number): string {
  const rest = Math.floor(column / 26);
  return `${rest > 0 ? columnName(rest - 1) : ''}${String.fromCharCode(65 + (column % 26))}`;
}
