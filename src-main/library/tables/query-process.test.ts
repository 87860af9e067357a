/** What a statement can reach: nothing but its tables, for a limited time. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { fork, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';
import { queryTablesIn, spawnQuery } from './query-process.ts';

const TABLE: TableInfo = {
  name: 'T',
  sheet: '',
  rows: 2,
  totalsLeftOut: 0,
  columns: [{ name: 'a', type: 'number', unit: null, unread: 0, examples: [], isComplete: false }],
};

function run(sql: string, limitMs?: number): Promise<QueryResult> {
  return queryTablesIn(spawnQuery, limitMs)({ sql, tables: [TABLE], rows: '[[[1],[null]]]' });
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-query-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a statement over a table', async () => {
  expect(await run('SELECT COUNT(*) AS n, SUM(a) FROM T')).toEqual({
    columns: ['n', 'SUM(a)'],
    rows: [[2, 1]],
    truncated: false,
  });
});

test.each([
  ['writing', 'DELETE FROM T'],
  ['writing behind a common table', 'WITH x AS (SELECT 1) DELETE FROM T'],
  ['returning what was written', 'INSERT INTO T VALUES (3) RETURNING a'],
  ['settings', 'PRAGMA query_only = OFF'],
  ['two statements', 'SELECT 1; SELECT 2'],
  ['an extension', `SELECT load_extension('x')`],
  ['a file', `SELECT readfile('/etc/hostname')`],
  ['an unknown column', 'SELECT "b" FROM T'],
  ['no statement', 'How many are there?'],
])('refused: %s', async (_, sql) => {
  await expect(run(sql)).rejects.toMatchObject({ code: 'TABLE_QUERY' });
});

test('other databases cannot be attached, nor copied to', async () => {
  const dir = folder();
  const path = join(dir, 'other.sqlite');
  new SQLite(path).exec('CREATE TABLE secret (x)').close();
  for (const sql of [`ATTACH '${path}' AS o`, `VACUUM INTO '${dir}/copy'`])
    await expect(run(sql)).rejects.toMatchObject({ code: 'TABLE_QUERY' });
  expect(existsSync(join(dir, 'copy'))).toBe(false);
});

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';

test.each([
  ['without end', `${ENDLESS} SELECT COUNT(*) FROM n`, 3000],
  // It ends by its memory, long before its time.
  ['that takes all memory', `${ENDLESS} SELECT hex(zeroblob(100000)) FROM n ORDER BY i DESC, 1`, 120_000],
])(
  'a statement %s is ended with its process, and the next one runs',
  async (_, sql, limitMs) => {
    let child: ChildProcess | undefined;
    const query = queryTablesIn(() => (child = spawnQuery()), limitMs);
    await expect(query({ sql, tables: [], rows: '[]' })).rejects.toMatchObject({ code: 'TABLE_TIMEOUT' });
    await expect.poll(() => child?.exitCode ?? child?.signalCode).toBe('SIGKILL');
    expect((await run('SELECT 1')).rows).toEqual([[1]]);
  },
  60_000,
);

test('long results are cut', async () => {
  const { rows, truncated } = await run(`SELECT printf('%.*c', 100000, 'x')`);
  expect([String(rows[0]?.[0]).length, truncated]).toEqual([2000, true]);
});

test('its process may neither write files, start programs, nor open connections', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'a'), 'x');
  const child = spawnQuery();
  const flags = child.spawnargs.slice(1).filter((arg) => arg.startsWith('--'));
  child.kill('SIGKILL');
  const script = `
    import { confine } from ${JSON.stringify(new URL('../parser/confine.ts', import.meta.url).href)};
    confine();
    const tries = {
      write: async () => (await import('node:fs')).writeFileSync(${JSON.stringify(join(dir, 'b'))}, 'x'),
      start: async () => { if ((await import('node:child_process')).spawnSync('true').error) throw new Error(); },
      connect: async () => (await import('node:net')).connect(80, '127.0.0.1'),
    };
    for (const [name, attempt] of Object.entries(tries)) await attempt().then(() => process.send(name), () => undefined);
    process.send('end');`;
  writeFileSync(join(dir, 'try.mjs'), script);
  const could: unknown[] = [];
  const trying = fork(join(dir, 'try.mjs'), {
    execArgv: flags,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  trying.on('message', (message) => could.push(message));
  await new Promise((resolve) => trying.on('close', resolve));
  expect(could).toEqual(['end']);
});
