import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const rows = readFileSync(join(root, 'docs', 'features.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'));

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

test('every test that docs/features.md names exists, with the title it quotes', () => {
  expect(rows.length).toBeGreaterThan(200);
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
