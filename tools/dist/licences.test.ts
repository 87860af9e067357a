import { join } from 'node:path';
import { expect, test } from 'vitest';
import { licencesText, unknownLicences } from './licences.ts';
import { packageOf, packedPackages, type Package } from './packages.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('every package that is packed has a licence under which it may be passed on', () => {
  const packages = packedPackages(ROOT);
  const names = packages.map(({ name }) => name);
  expect(names).toContain('better-sqlite3');
  expect(names).toContain('pdfjs-dist');
  expect(names).not.toContain('vitest');
  expect(unknownLicences(packages)).toEqual([]);
});

test('what nobody has looked at is told', () => {
  const one = (name: string, license: string): Package => ({ name, version: '1.0.0', license, texts: [] });
  const packages = [one('a', 'MIT'), one('b', '(MIT OR GPL-3.0-or-later)'), one('c', 'MIT AND Zlib')];
  expect(unknownLicences(packages)).toEqual([]);
  expect(unknownLicences([...packages, one('d', 'GPL-3.0-only'), one('e', '')])).toEqual([
    'd (GPL-3.0-only)',
    'e (none)',
  ]);
  expect(licencesText(packages)).toContain('\na 1.0.0: MIT\n');
});

test('the package of a module, and no folder within it', () => {
  const inside = (...path: string[]): string => join(ROOT, 'node_modules', ...path);
  expect(packageOf(inside('pdfjs-dist', 'legacy', 'build', 'pdf.mjs'), ROOT)).toBe('node_modules/pdfjs-dist');
  expect(packageOf(inside('@huggingface', 'jinja', 'dist', 'index.js'), ROOT)).toBe(
    'node_modules/@huggingface/jinja',
  );
  expect(packageOf(join(ROOT, 'src-main', 'app.ts'), ROOT)).toBeUndefined();
});
