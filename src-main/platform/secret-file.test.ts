import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Keyring } from './keyring.ts';
import { SecretFile } from './secret-file.ts';

const schema = z.object({ version: z.literal(1), names: z.array(z.string()) });

const keyring = (available: boolean): Keyring => ({
  available: () => (available ? Promise.resolve(true) : Promise.reject(new Error('no bus'))),
  encrypt: (text) => Promise.resolve(Buffer.from(text).reverse()),
  decrypt: (encrypted) => Promise.resolve(Buffer.from(encrypted).reverse().toString()),
});

function setUp(ring?: Keyring) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-secrets-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'secrets.json');
  return { path, file: new SecretFile({ path, schema, keyring: ring, what: 'It could not be kept' }) };
}

test('changes are made one after another, in a file that only its user can read', async () => {
  const { path, file } = setUp();
  writeFileSync(`${path}.tmp`, 'left by a kill', { mode: 0o666 });
  const add = (name: string): Promise<void> =>
    file.change((now) => Promise.resolve({ version: 1, names: [...(now?.names ?? []), name] }));
  await Promise.all(['a', 'b', 'c'].map(add));
  expect(file.read()?.names).toEqual(['a', 'b', 'c']);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.tmp`)).toBe(false);
});

test('a change that fails leaves the file as it was, and the next one goes on', async () => {
  const { path, file } = setUp();
  await file.change(() => Promise.resolve({ version: 1, names: ['a'] }));
  await expect(file.change(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(readFileSync(path, 'utf8')).toBe('{"version":1,"names":["a"]}');
  await file.change(() => Promise.resolve(undefined));
  expect(existsSync(path)).toBe(false);
});

test('what cannot be read is told from what is missing, and is set aside when something is kept', async () => {
  const { path, file } = setUp();
  expect(file.read()).toBeUndefined();
  expect(file.load()).toBeUndefined();
  for (const text of ['', '{', '{"version":2,"names":[]}']) {
    writeFileSync(path, text);
    expect(file.read()).toBeUndefined();
    expect(() => file.load()).toThrow();
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
  await file.change((now) => Promise.resolve({ version: 1, names: now?.names ?? ['new'] }));
  expect(file.load()).toEqual({ version: 1, names: ['new'] });
  const [aside = ''] = readdirSync(dirname(path)).filter((name) => name.startsWith('secrets.json.corrupt-'));
  expect(readFileSync(join(dirname(path), aside), 'utf8')).toBe('{"version":2,"names":[]}');
});

test('a folder that is no folder is told as what could not be done', async () => {
  const { path } = setUp();
  writeFileSync(path, '');
  const file = new SecretFile({ path: join(path, 'secrets.json'), schema, what: 'It could not be kept' });
  const failed = file.change(() => Promise.resolve({ version: 1, names: [] }));
  await expect(failed).rejects.toThrow(/could not be kept/);
});

test('a secret is encrypted where a keyring protects, and is opened by it alone', async () => {
  const { file } = setUp(keyring(true));
  const sealed = await file.seal('hf_secret');
  expect(sealed).toEqual({
    kept: 'keyring',
    secret: Buffer.from('hf_secret').reverse().toString('base64'),
  });
  expect(await file.unseal(sealed)).toBe('hf_secret');
  const { file: without } = setUp();
  await expect(without.unseal(sealed)).rejects.toThrow();
  const { file: unprotected } = setUp(keyring(false));
  expect(await unprotected.keeps()).toBe('file');
  expect(await unprotected.seal('hf_secret')).toEqual({ kept: 'file', secret: 'hf_secret' });
});
