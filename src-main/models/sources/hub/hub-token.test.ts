import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Keyring } from '../../../platform/keyring.ts';
import { HubToken } from './hub-token.ts';

const HUB = 'https://hub.example';

function setUp(keyring?: Keyring) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-token-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'hub-token.json');
  return { path, token: new HubToken({ path, keyring }), again: new HubToken({ path, keyring }) };
}

const keyring = (available: boolean): Keyring => ({
  available: () => Promise.resolve(available),
  encrypt: (text) => Promise.resolve(Buffer.from(text).reverse()),
  decrypt: (encrypted) => Promise.resolve(Buffer.from(encrypted).reverse().toString()),
});

test('without a keyring the token lies in a file that only its user can read', async () => {
  const { path, token, again } = setUp();
  writeFileSync(`${path}.tmp`, 'left by a kill', { mode: 0o666 });
  await token.set(`${HUB}/models/`, 'hf_secret');
  expect(await again.state(HUB)).toEqual({ token: 'file', keeps: 'file' });
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.tmp`)).toBe(false);
  expect(await again.headers(`${HUB}/api/models`)).toEqual({ authorization: 'Bearer hf_secret' });
});

test('with one it is encrypted; a system whose keyring does not protect has none', async () => {
  const { path, token, again } = setUp(keyring(true));
  await token.set(HUB, 'hf_secret');
  expect(readFileSync(path, 'utf8')).not.toContain('hf_secret');
  expect(await again.state(HUB)).toEqual({ token: 'keyring', keeps: 'keyring' });
  expect(await again.headers(HUB)).toEqual({ authorization: 'Bearer hf_secret' });
  const without = new HubToken({ path, keyring: undefined });
  await expect(without.headers(HUB)).rejects.toMatchObject({ code: 'HUB_TOKEN' });
  expect((await setUp(keyring(false)).token.state(HUB)).keeps).toBe('file');
});

test('it is for one origin, and for no other', async () => {
  const { token } = setUp();
  await token.set(HUB, 'hf_secret');
  for (const other of [
    'http://hub.example',
    'https://hub.example:444',
    'https://cdn.hub.example',
    'https://mirror.example',
  ]) {
    expect(await token.headers(`${other}/x`)).toEqual({});
    expect((await token.state(other)).token).toBe('none');
  }
});

test('it is not sent without encryption, but on this machine; what is no token is refused', async () => {
  const { token, path } = setUp();
  await expect(token.set('http://hub.example', 'hf_secret')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await expect(token.set(HUB, 'two\r\nlines')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  expect(existsSync(path)).toBe(false);
  await token.set('http://127.0.0.1:8080', 'hf_secret');
  await token.set(HUB, '');
  expect(existsSync(path)).toBe(false);
});

test('a file that cannot be read means that there is no token', async () => {
  const { token, path } = setUp();
  writeFileSync(path, '{"version":7}');
  expect(await token.headers(HUB)).toEqual({});
  expect((await token.state(HUB)).token).toBe('none');
});
