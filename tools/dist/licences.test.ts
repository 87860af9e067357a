import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { licencesText, unknownLicences } from './licences.ts';
import { bundledPackages, packageList, packageOf, packedPackages, type Package } from './packages.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('every packed package has a licence that permits redistribution', () => {
  const packages = packedPackages(ROOT);
  const names = packages.map(({ name }) => name);
  expect(names).toContain('better-sqlite3');
  expect(names).toContain('pdfjs-dist');
  expect(names).not.toContain('vitest');
  expect(unknownLicences(packages)).toEqual([]);
});

test('packages in every bundle are listed, including those outside the production dependencies', () => {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-licences-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const put = (path: string, content: unknown): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(content));
  };
  const locked: Record<string, object> = { '': {}, 'node_modules/production': {} };
  for (const bundle of ['main', 'preload', 'renderer', 'worker'] as const) {
    locked[`node_modules/of-${bundle}`] = { dev: true };
    put(`node_modules/of-${bundle}/package.json`, { name: `of-${bundle}`, version: '1.0.0', license: 'MIT' });
    put(packageList('', bundle), [`node_modules/of-${bundle}`]);
  }
  locked['node_modules/tool'] = { dev: true };
  put('node_modules/production/package.json', { name: 'production', version: '1.0.0', license: 'MIT' });
  put('node_modules/tool/package.json', { name: 'tool', version: '1.0.0', license: 'MIT' });
  put('package-lock.json', { packages: locked });
  expect(packedPackages(root).map(({ name }) => name)).toEqual([
    'of-main',
    'of-preload',
    'of-renderer',
    'of-worker',
    'production',
  ]);
});

test.skipIf(!existsSync(packageList(ROOT, 'main')))(
  'the list contains the packages bundled into the main process and the worker',
  () => {
    const names = packedPackages(ROOT).map(({ name }) => name);
    const bundled = ['hono', '@hono/node-server', '@modelcontextprotocol/sdk', '@shikijs/core'];
    expect(names).toEqual(expect.arrayContaining([...bundled, 'iovalkey', 'openai']));
    const folders = bundled.map((name) => `node_modules/${name}`);
    expect(bundledPackages(ROOT)).toEqual(expect.arrayContaining(folders));
  },
);

test('unreviewed licences are reported', () => {
  const one = (name: string, license: string): Package => ({ name, version: '1.0.0', license, texts: [] });
  const packages = [one('a', 'MIT'), one('b', '(MIT OR GPL-3.0-or-later)'), one('c', 'MIT AND Zlib')];
  expect(unknownLicences(packages)).toEqual([]);
  expect(unknownLicences([...packages, one('d', 'GPL-3.0-only'), one('e', '')])).toEqual([
    'd (GPL-3.0-only)',
    'e (none)',
  ]);
  expect(licencesText(packages)).toContain('\na 1.0.0: MIT\n');
});

test("a module's package is its package root, not a folder within it", () => {
  const inside = (...path: string[]): string => join(ROOT, 'node_modules', ...path);
  expect(packageOf(inside('pdfjs-dist', 'legacy', 'build', 'pdf.mjs'), ROOT)).toBe('node_modules/pdfjs-dist');
  expect(packageOf(inside('@huggingface', 'jinja', 'dist', 'index.js'), ROOT)).toBe(
    'node_modules/@huggingface/jinja',
  );
  expect(packageOf(join(ROOT, 'src-main', 'app.ts'), ROOT)).toBeUndefined();
});
