/** Rows and statements over the files of a library, by the real processes. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { rowsOf, workbookOf } from '../../testing/workbook.ts';
import { ServiceFixture } from '../../testing/library.ts';
import { ParserProcess } from '../parser/parser-process.ts';
import { TableService } from './table-service.ts';

const SALES = `Region;Day;Revenue
North;19.03.2026;1.200,50 €
South;20.03.2026;800,00 €
north;21.03.2026;99,50 €
Total;;2.100,00 €
`;

async function open(files: Record<string, string | Buffer>) {
  const fixture = new ServiceFixture(files);
  const library = await fixture.library();
  const { catalogue, settings } = fixture;
  const tables = new TableService({ catalogue, settings, parser: new ParserProcess() });
  onTestFinished(() => tables.close());
  const idOf = (path: string): string =>
    fixture.documents(library.id).find((document) => document.path === path)?.id ?? '';
  const rows = (path: string, window: { sheet?: number; passage?: { start: number; end: number } } = {}) =>
    tables.rows({ id: idOf(path), offset: 0, limit: 200, ...window });
  return { fixture, tables, idOf, rows };
}

async function workbook(): Promise<Buffer> {
  const towns = [
    ['Towns of the north', ''],
    ['', ''],
    ['Town', 'Bridges'],
    ['Orm', 7],
    ['Hollin', 3],
  ];
  return workbookOf([
    { name: 'Towns', data: rowsOf(towns), after: '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>' },
    { name: 'Empty', data: '' },
    { name: 'Ages', data: rowsOf([['Name', 'Age'], ['Ada', 41], ['Bo', 35]]) }, // prettier-ignore
  ]);
}

describe('rows for display', () => {
  test('a sheet has its rows with their numbers in the file, and the header of its text', async () => {
    const { rows } = await open({ 'towns.xlsx': await workbook() });
    const page = await rows('towns.xlsx');
    expect(page.sheets).toEqual([
      { name: 'Towns', rows: 3, columns: 2 },
      { name: 'Empty', rows: 0, columns: 0 },
      { name: 'Ages', rows: 2, columns: 2 },
    ]);
    expect(page.header).toEqual(['Town', 'Bridges']);
    expect(page.items).toEqual([
      { number: 1, cells: ['Towns of the north', ''], marked: false },
      { number: 4, cells: ['Orm', '7'], marked: false },
      { number: 5, cells: ['Hollin', '3'], marked: false },
    ]);
    expect(page).toMatchObject({ total: 3, firstMarked: null });
  });

  test('the rows of a passage are marked, on its sheet only', async () => {
    const { fixture, rows, idOf } = await open({ 'towns.xlsx': await workbook() });
    const { text } = fixture.service.documents.text({ id: idOf('towns.xlsx'), offset: 0, limit: 1000 });
    const start = text.indexOf('- Name: Bo');
    const passage = { start, end: start + 12 };
    const ages = await rows('towns.xlsx', { passage });
    expect(ages.sheet).toBe(2);
    expect(ages.items.map(({ marked }) => marked)).toEqual([false, true]);
    expect(ages.firstMarked).toBe(1);
    expect((await rows('towns.xlsx', { sheet: 0, passage })).firstMarked).toBeNull();
  });

  test('rows are those that the file has now', async () => {
    const { fixture, rows } = await open({ 'sales.csv': SALES });
    fixture.service.queue.pause();
    fixture.write('sales.csv', `${SALES}West;22.03.2026;1,00 €\n`);
    const page = await rows('sales.csv');
    expect(page.items.at(-1)?.cells[0]).toBe('West');
  });

  test('other documents have no sheets', async () => {
    const { rows } = await open({ 'a.md': 'Hello.', 'page.xls': '<html><body><p>Hello.</p></body></html>' });
    await expect(rows('a.md')).rejects.toMatchObject({ code: 'DOCUMENT_UNSUPPORTED' });
    await expect(rows('page.xls')).rejects.toMatchObject({ code: 'DOCUMENT_UNSUPPORTED' });
  });
});

describe('statements', () => {
  test('numbers, days and words of a table; the row of totals is no row', async () => {
    const { tables, idOf } = await open({ 'sales.csv': SALES });
    const id = idOf('sales.csv');
    const { tables: listed } = await tables.list(id);
    expect(listed).toEqual([
      {
        name: 'Table',
        sheet: '',
        rows: 3,
        totalsLeftOut: 1,
        columns: [
          { name: 'Region', type: 'text', unit: null, unread: 0, examples: ['North', 'South', 'north'], isComplete: true }, // prettier-ignore
          { name: 'Day', type: 'date', unit: null, unread: 0, examples: ['2026-03-19', '2026-03-20', '2026-03-21'], isComplete: false }, // prettier-ignore
          { name: 'Revenue', type: 'number', unit: '€', unread: 0, examples: ['1200.5', '800', '99.5'], isComplete: false }, // prettier-ignore
        ],
      },
    ]);
    const sql = `SELECT COUNT(*), SUM("Revenue"), MIN("Day") FROM "Table" WHERE "Region" = 'north'`;
    const { columns, rows, truncated } = await tables.query(id, sql);
    expect(columns).toEqual(['COUNT(*)', 'SUM("Revenue")', 'MIN("Day")']);
    expect(rows).toEqual([[2, 1300, '2026-03-19']]);
    expect(truncated).toBe(false);
  });

  test('tables of several sheets can be joined', async () => {
    const { tables, idOf } = await open({ 'towns.xlsx': await workbook() });
    const { rows } = await tables.query(
      idOf('towns.xlsx'),
      'SELECT (SELECT SUM("Bridges") FROM "Towns") + (SELECT MAX("Age") FROM "Ages")',
    );
    expect(rows).toEqual([[51]]);
  });

  test('at most 200 rows are told', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => `n${i},${i}`);
    const { tables, idOf } = await open({ 'long.csv': `Name,Size\n${lines.join('\n')}\n` });
    const { rows, truncated } = await tables.query(idOf('long.csv'), 'SELECT * FROM "Table"');
    expect([rows.length, truncated]).toEqual([200, true]);
  });

  test('a stray cell far away does no harm', async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `n${i},${i}`);
    const wide = `Name,Size\n${lines.join('\n')}\nlast,1${','.repeat(9000)}far\n`;
    const { tables, idOf } = await open({ 'wide.csv': wide });
    const { rows } = await tables.query(idOf('wide.csv'), 'SELECT COUNT(*), SUM("Size") FROM "Table"');
    expect(rows).toEqual([[201, 19_901]]);
  });

  test('more than a million cells are refused', async () => {
    const bytes = Buffer.from(`${'a,'.repeat(99)}a\n`.repeat(10_200));
    const parser = new ParserProcess();
    onTestFinished(() => parser.close());
    const file = { path: '', name: 'many.csv', format: 'csv', maxBytes: 1e8, bytes };
    const read = parser.do<'tables'>({ work: 'tables', ...file, withRows: false });
    await expect(read).rejects.toMatchObject({ code: 'DOCUMENT_TOO_LARGE' });
  });
});
