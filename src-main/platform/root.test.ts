import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { appRoot, nativeRoot } from './root.ts';

function folderWith(...parts: string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-root-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const app = join(root, ...parts);
  mkdirSync(join(app, 'out', 'main', 'chunks'), { recursive: true });
  writeFileSync(join(app, 'package.json'), '{}');
  return app;
}

test('from source it is the repository', () => {
  expect(existsSync(join(appRoot(), 'src-main', 'platform', 'root.ts'))).toBe(true);
  expect(nativeRoot()).toBe(appRoot());
});

test.each([['out', 'main'], ['out', 'main', 'chunks'], ['.']])(
  'bundled into %s it is the folder above',
  (...at) => {
    const app = folderWith('kvasir');
    expect(appRoot(join(app, ...at))).toBe(app);
  },
);

test('packaged, what native code opens is beside the archive', () => {
  const app = folderWith('resources', 'app.asar');
  expect(appRoot(join(app, 'out', 'main'))).toBe(app);
  expect(nativeRoot(app)).toBe(join(app, '..', 'app.asar.unpacked'));
});

test('a place without a package.json above is a broken installation', () => {
  expect(() => appRoot('/nowhere/at/all')).toThrow('no package.json above /nowhere/at/all');
});
