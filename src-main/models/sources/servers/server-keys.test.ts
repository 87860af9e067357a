import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Keyring } from '../../../platform/keyring.ts';
import { ServerKeys } from './server-keys.ts';

const ADDRESS = 'https://llm.example/v1';
const keyring: Keyring = {
  available: () => Promise.resolve(true),
  encrypt: (text) => Promise.resolve(Buffer.from(text).reverse()),
  decrypt: (encrypted) => Promise.resolve(Buffer.from(encrypted).reverse().toString()),
};

function setUp(ring?: Keyring) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-keys-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'server-keys.json');
  return { path, keys: new ServerKeys({ path, keyring: ring }) };
}

test('without a keyring keys lie in a file that only its user can read', async () => {
  const { path, keys } = setUp();
  await Promise.all([keys.set('a', ADDRESS, 'sk-one'), keys.set('b', ADDRESS, 'sk-two')]);
  expect(await keys.get('a', ADDRESS)).toBe('sk-one');
  expect(await keys.get('b', ADDRESS)).toBe('sk-two');
  expect([keys.kept('a'), keys.kept('c')]).toEqual(['file', 'none']);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.tmp`)).toBe(false);
});

test('with one they are encrypted, and without it at hand that is told', async () => {
  const { path, keys } = setUp(keyring);
  await keys.set('a', ADDRESS, 'sk-one');
  expect(keys.kept('a')).toBe('keyring');
  expect(readFileSync(path, 'utf8')).not.toContain('sk-one');
  expect(await keys.get('a', ADDRESS)).toBe('sk-one');
  const without = new ServerKeys({ path });
  await expect(without.get('a', ADDRESS)).rejects.toMatchObject({ code: 'REMOTE_KEY' });
});

test('a key is for one origin, and gone when it is forgotten', async () => {
  const { path, keys } = setUp();
  await keys.set('a', ADDRESS, 'sk-one');
  for (const other of ['http://llm.example/v1', 'https://llm.example:444/v1', 'https://evil.example/v1'])
    expect(await keys.get('a', other)).toBe('');
  await keys.set('a', ADDRESS, '');
  expect(await keys.get('a', ADDRESS)).toBe('');
  expect(readFileSync(path, 'utf8')).not.toContain('sk-one');
});

test('what can stand in no header is refused; a file that cannot be read means that there are none', async () => {
  const { path, keys } = setUp();
  await expect(keys.set('a', ADDRESS, 'two\r\nlines')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, '{"version":7}');
  expect(keys.kept('a')).toBe('none');
});
