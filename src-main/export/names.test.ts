import { expect, test } from 'vitest';
import { ExportNames } from './names.ts';

test.each([
  ['notes/plan.md', 'notes/plan.md'],
  ['a:b?.md', 'a_b_.md'],
  ['../../etc/passwd', '__/__/etc/passwd'],
  ['nul.txt', '_nul.txt'],
  ['ends in a dot.', 'ends in a dot_'],
  ['手册/第一章.md', '手册/第一章.md'],
  ['lone \ud800.md', 'lone \ufffd.md'],
])('%s is written as %s', (path, name) => {
  expect(new ExportNames().free('', path)).toBe(name);
});

test('a name is given once, whatever its case, and keeps its extension', () => {
  const names = new ExportNames();
  expect(['Plan.md', 'plan.md', 'PLAN.MD', 'other.md'].map((name) => names.free('x', name))).toEqual([
    'x/Plan.md',
    'x/plan (2).md',
    'x/PLAN (3).MD',
    'x/other.md',
  ]);
});

test('a long name is cut at a whole character, before its extension', () => {
  const name = new ExportNames().free('', `${'船'.repeat(90)}.markdown`);
  expect(name).toMatch(/^船+\.markdown$/);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
});
