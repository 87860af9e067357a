import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { packageAddress, packageRegistry } from './registry.ts';

/** An app folder that was packaged with this registry, and an npm that prints the other. */
function app(packedWith: string | undefined, npmSays: string | undefined): string {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-registry-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ registry: packedWith }));
  const bin = join(root, 'bin');
  mkdirSync(bin);
  if (npmSays !== undefined) {
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho '${npmSays}'\n`);
    chmodSync(join(bin, 'npm'), 0o755);
  }
  vi.stubEnv('PATH', [bin, ...(npmSays === undefined ? [] : ['/bin', '/usr/bin'])].join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
  return root;
}

test.skipIf(process.platform === 'win32').each([
  ['npm says', {}, undefined, 'https://npm.example/sub', 'https://npm.example/sub/'],
  ['the package was made with', {}, 'https://made.example/', 'https://npm.example/', 'https://made.example/'],
  [
    'the environment names',
    { npm_config_registry: 'http://127.0.0.1:4873' },
    'https://made.example/',
    undefined,
    'http://127.0.0.1:4873/',
  ],
  [
    'remains without a name and password',
    {},
    undefined,
    'https://ada:secret@npm.example/',
    'https://npm.example/',
  ],
])('packages are fetched from what %s', async (_, env, packedWith, npmSays, registry) => {
  expect(await packageRegistry(env, app(packedWith, npmSays))).toBe(registry);
});

test.skipIf(process.platform === 'win32')('reports an error if no registry is configured', async () => {
  await expect(packageRegistry({}, app(undefined, undefined))).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: 'The package registry is unknown because npm was not found.',
  });
  await expect(packageRegistry({}, app(undefined, 'undefined'))).rejects.toThrow(/registry is unknown/);
});

test("a package's address, with and without a scope", () => {
  const registry = 'https://npm.example/';
  expect(packageAddress(registry, '@a/b-c', '1.2.3')).toBe('https://npm.example/@a/b-c/-/b-c-1.2.3.tgz');
  expect(packageAddress(registry, 'b', '1.2.3')).toBe('https://npm.example/b/-/b-1.2.3.tgz');
});
