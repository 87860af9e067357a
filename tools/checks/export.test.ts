import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Catalogue } from '../../src-main/catalogue/catalogue.ts';
import { SCHEMAS } from '../../src-main/databases.ts';
import { openDatabase } from '../../src-main/platform/database.ts';
import { resolvePaths } from '../../src-main/platform/paths.ts';

/** First cells of the rows in docs/formats/export.md that say what becomes of a table or file. */
function documented(): string[] {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'formats', 'export.md'), 'utf8');
  const rows = page.matchAll(/^\| (`.+`) \| (?:exported|computed again|secret|left out) \| \S/gm);
  return [...rows].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

test('docs/formats/export.md says of every table and file of the data folder what becomes of it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-export-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const tables = Object.entries(SCHEMAS).flatMap(([name, migrations]) => {
    const path = join(dir, name);
    if (name === 'catalogue.sqlite') Catalogue.open(path).close(); // creates derived tables
    const database = openDatabase(path, migrations);
    const query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')";
    const listed = database.column<string>(query).filter((table) => !table.startsWith('sqlite_'));
    database.close();
    return listed.map((table) => `${name.replace('.sqlite', '')}.${table}`);
  });
  const files = Object.values<string>({ ...resolvePaths(dir) })
    .filter((path) => dirname(path) === dir && !path.endsWith('.sqlite'))
    .map((path) => basename(path));
  expect(tables.length + files.length).toBeGreaterThan(45);
  const known = documented();
  expect(new Set(known).size).toBe(known.length);
  expect([...tables, ...files].filter((name) => !known.includes(name))).toEqual([]);
});
