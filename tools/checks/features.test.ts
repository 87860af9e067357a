import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
/** Pages whose tables name tests in their last column, each with the least number of rows that do. */
const PAGES = [
  ['features.md', 200],
  ['threat-model.md', 35],
  ['promises.md', 12],
] as const;

function rowsOf(page: string): string[] {
  const lines = readFileSync(join(root, 'docs', page), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('| ') && line.includes('`'));
}

/** The files that a row names as its tests, each with the parts of titles quoted after it. */
function testsOf(row: string): { file: string; titles: string[] }[] {
  const cell = row.split(' | ').at(-1) ?? '';
  return cell
    .split(/(?=`(?:src-|e2e\/|native\/|tools\/|bench\/)[\w./-]+\.(?:ts|tsx|cc)`)/)
    .flatMap((part) => {
      const file = /^`([\w./-]+\.(?:ts|tsx|cc))`/.exec(part)?.[1];
      const titles = [...part.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
      return file === undefined ? [] : [{ file, titles }];
    });
}

test.each(PAGES)('every test that docs/%s names exists, with the title it quotes', (page, least) => {
  const rows = rowsOf(page).filter((row) => testsOf(row).length > 0);
  expect(rows.length).toBeGreaterThanOrEqual(least);
  const missing: string[] = [];
  for (const { file, titles } of rows.flatMap(testsOf)) {
    const path = join(root, file);
    if (!existsSync(path)) missing.push(file);
    else {
      const text = readFileSync(path, 'utf8').replaceAll("\\'", "'");
      missing.push(...titles.filter((title) => !text.includes(title)).map((title) => `${file}: ${title}`));
    }
  }
  expect(missing).toEqual([]);
});

test.each(['threat-model.md', 'promises.md'])(
  'every row of docs/%s names a test, or says that it has none',
  (page) => {
    const lines = readFileSync(join(root, 'docs', page), 'utf8').split('\n');
    const rows = lines.filter((line) => line.startsWith('| ') && !/^\| (attack|point|promise) \|/.test(line));
    expect(rows.filter((row) => testsOf(row).length === 0 && !row.includes('**no test**'))).toEqual([]);
  },
);
