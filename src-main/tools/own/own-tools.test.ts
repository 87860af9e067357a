import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, describe } from 'vitest';
import type { Scope } from '../../../src-shared/contract/search.ts';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';
import { usableTools } from '../../answering/tools/usable-tools.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { packText } from '../../catalogue/text-table.ts';
import { TOOL_TEMPLATE } from '../../testing/chat-templates.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { ownTools } from './own-tools.ts';

const ALL: Scope = { libraryIds: [], documentIds: [] };
const LONG = `Beginning. ${'x'.repeat(30_000)} End.`;

const TOWNS: TableInfo = {
  name: 'Towns',
  sheet: '',
  rows: 12,
  totalsLeftOut: 0,
  columns: [
    { name: 'Town', type: 'text', unit: null, unread: 0, examples: ['Orm'], isComplete: false },
    { name: 'Area', type: 'number', unit: 'km²', unread: 0, examples: ['12'], isComplete: false },
  ],
};

async function openTools(result: Partial<QueryResult> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-own-tools-'));
  const catalogue = Catalogue.open(join(dir, 'catalogue.sqlite'));
  onTestFinished(() => {
    catalogue.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const ids = new Map<string, string>();
  for (const [library, paths] of Object.entries({
    Work: ['a/mara.md', 'b/mara.md', 'towns.csv', 'new.md'],
    Other: ['secret.md'],
  })) {
    const libraryId = catalogue.libraries.create(library);
    ids.set(library, String(libraryId));
    const root = catalogue.libraries.addRoot(libraryId, {
      kind: 'folder',
      path: join(dir, library),
      watched: false,
    });
    for (const path of paths) {
      catalogue.documents.queueFile(libraryId, root, { path, format: 'md', bytes: 1, mtimeMs: 1 });
      const { id } = catalogue.documents.ofPath(root, path)!;
      ids.set(path, String(id));
      if (path === 'new.md') continue;
      const facts = { title: `Title of ${path}`, sha256: 'a', bytes: 1, mtimeMs: 1, seenMs: 1, warnings: [], textLength: LONG.length, headings: null, pages: [] }; // prettier-ignore
      catalogue.documents.setRead(id, facts, 'chunking');
      catalogue.texts.put(id, await packText(LONG));
    }
  }
  const { passages, retrieval } = listedLibrary(new FakeModel(), { 'mara.md': 'Mara Lind lives in Oslo.' });
  const queried: [string, string][] = [];
  const tables = {
    list: () => Promise.resolve({ tables: [TOWNS], changed: false }),
    query: (id: string, sql: string) => {
      queried.push([id, sql]);
      return Promise.resolve({ columns: ['n', 'name'], rows: [[12, null]], truncated: false, ...result });
    },
  };
  const now = () => new Date(2026, 10, 26, 21, 5);
  const source = ownTools({ catalogue, retrieval, passages, tables, now });
  const tools = await source.tools(new AbortController().signal, []);
  const run = (name: string, args: Record<string, unknown>, scope = ALL) =>
    tools.find((tool) => tool.name === name)!.run(args, { scope, signal: new AbortController().signal });
  const text = async (name: string, args: Record<string, unknown>, scope = ALL): Promise<string> => {
    const { text: told, isError } = await run(name, args, scope);
    expect(isError).toBe(false);
    return told;
  };
  return { tools, run, text, ids, queried };
}

test('no tool asks, and templates with tools take their schemas', async () => {
  const { tools } = await openTools();
  expect(tools.map(({ allowed, server }) => [allowed, server])).toEqual(Array(5).fill([true, null]));
  const model = new FakeModel({ chatTemplate: TOOL_TEMPLATE });
  expect(usableTools({ name: 'Fake', model }, tools, false)?.tools).toHaveLength(5);
});

test('wrong arguments are told', async () => {
  const { run } = await openTools();
  expect(await run('search_documents', { limit: 3 })).toEqual({
    text: expect.stringMatching(/Wrong arguments: .*query/s) as string,
    isError: true,
  });
});

test('search returns passages with their places', async () => {
  const { text } = await openTools();
  expect(await text('search_documents', { query: 'Where does Mara live?' })).toBe(
    'mara.md, page 7, from character 0:\nMara Lind lives in Oslo.',
  );
  expect(await text('search_documents', { query: 'xylophone' })).toBe('Nothing was found.');
});

describe('read', () => {
  test('returns a part of a text, and says where it goes on', async () => {
    const { text } = await openTools();
    const first = await text('read_document', { document: 'a/mara.md' });
    expect(first).toMatch(/^a\/mara\.md, characters 0 to 6000 of 30016:\nBeginning\. x/);
    expect(first).toMatch(/\[The text goes on from character 6000\.\]$/);
    const last = await text('read_document', { document: 'Title of a/mara.md', from: 30_010, length: 50 });
    expect(last).toBe('a/mara.md, characters 30010 to 30016 of 30016:\n End.'.replace('\n', '\nx'));
  });

  test.each([
    ['nothing', 'NOT_FOUND', /There are: a\/mara\.md; b\/mara\.md; new\.md; secret\.md; towns\.csv/],
    ['mara.md', 'BAD_ARGUMENT', /one of the paths/],
    ['new.md', 'CONFLICT', /./],
  ])('%s: %s', async (document, code, advice) => {
    const { run } = await openTools();
    await expect(run('read_document', { document })).rejects.toMatchObject({ code, advice: expect.stringMatching(advice) as string }); // prettier-ignore
  });

  test('only what the conversation may use', async () => {
    const { run, ids } = await openTools();
    const work = { libraryIds: [ids.get('Work')!], documentIds: [] };
    await expect(run('read_document', { document: 'secret.md' }, work)).rejects.toMatchObject({ code: 'NOT_FOUND' }); // prettier-ignore
    const one = { libraryIds: [], documentIds: [ids.get('b/mara.md')!] };
    expect((await run('read_document', { document: 'mara.md' }, one)).text).toMatch(/^b\/mara\.md/);
  });
});

test('tables are listed and queried', async () => {
  const { text, queried, ids } = await openTools();
  expect(await text('query_table', { document: 'TOWNS.CSV' })).toBe(
    'Table "Towns", 12 rows, columns: "Town" (text, such as Orm); "Area" (number in km², such as 12)',
  );
  expect(await text('query_table', { document: 'towns.csv', sql: 'SELECT 1' })).toBe('n | name\n12 | NULL');
  expect(queried).toEqual([[ids.get('towns.csv'), 'SELECT 1']]);
  const many = await openTools({ rows: Array.from({ length: 60 }, (_, i) => [i, 'a']) });
  const told = await many.text('query_table', { document: 'towns.csv', sql: 'SELECT 1' });
  expect(told.split('\n')).toHaveLength(52);
  expect(told).toMatch(/There are more rows\.$/);
});

describe('calculate', () => {
  test.each([
    ['0.1 + 0.2', '0.3'],
    ['7 / 2', '3.5'],
    ['(1250.50 - 80) * 19%', '222.395'],
    ['100 / 5%', '2000'],
    ['17 % 5', '2'],
    ['123456789 * 987654321', '121932631112635269'],
    ['2^10', '1024'],
    ['-2 ** 2', '-4'],
    ['2^3^2', '512'],
    ['(1 + 2)^2 × 3', '27'],
    ['sqrt(2)', '1.4142135623731'],
    ['round(2.675 * 100) / 100', '2.68'],
    ['max(3, min(9, 5))', '5'],
    ['12 000 + 1_000', '13000'],
  ])('%s = %s', async (expression, value) => {
    const { text } = await openTools();
    expect(await text('calculate', { expression })).toBe(`${expression} = ${value}`);
  });

  test.each(['1 / 0', '2 +', 'abc', '(SELECT 1)', "load_extension('x')", '1; 2', 'sqrt(-1)', '9e999', '"a"'])(
    'refuses %s',
    async (expression) => {
      const { run } = await openTools();
      await expect(run('calculate', { expression })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    },
  );
});

describe('date', () => {
  const TODAY = 'Today is Thursday, 2026-11-26, 21:05.';

  test.each([
    [{}, TODAY],
    [{ from: '2024-02-29' }, `${TODAY}\n2024-02-29 is a Thursday.`],
    [{ to: '2026-12-24' }, `${TODAY}\n2026-11-26 to Thursday, 2026-12-24: 28 days.`],
    [
      { from: '2024-01-31', to: '2025-03-01' },
      `${TODAY}\n2024-01-31 is a Wednesday.\n2024-01-31 to Saturday, 2025-03-01: 395 days (1 years, 1 months, 1 days).`,
    ],
    [
      { from: '2026-03-01', to: '2026-01-15' },
      `${TODAY}\n2026-03-01 is a Sunday.\n2026-03-01 to Thursday, 2026-01-15: -45 days (0 years, 1 months, 14 days).`,
    ],
    [{ days: 90 }, `${TODAY}\n2026-11-26 and 90 days: Wednesday, 2027-02-24.`],
  ])('%j', async (args, told) => {
    const { text } = await openTools();
    expect(await text('date', args)).toBe(told);
  });

  test('a day that there is not is a wrong argument', async () => {
    const { run } = await openTools();
    expect(await run('date', { from: '2025-02-30' })).toMatchObject({ isError: true });
  });
});
