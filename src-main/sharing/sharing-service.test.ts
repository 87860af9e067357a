import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Sharing } from '../../src-shared/sharing.ts';
import type { Keyring } from '../platform/keyring.ts';
import { fileLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { noRedis, startRedis } from '../testing/redis-server.ts';
import { TestS3 } from '../testing/s3-server.ts';
import { chunkPath, fill, model, openTestStore, tempDir } from '../testing/store.ts';
import { SharingService } from './sharing-service.ts';

type Changes = { [K in keyof Sharing]?: Partial<Sharing[K]> | Sharing[K] };

function setUp(keyring?: Keyring) {
  const data = tempDir();
  const settings = new SettingsService(join(data, 'settings.json'));
  const make = (): SharingService => {
    const secrets = join(data, 'sharing-secrets.json');
    const made = new SharingService({
      settings,
      secrets,
      keyring,
      log: fileLogger(join(data, 'kvasir.log')),
    });
    onTestFinished(() => made.close());
    return made;
  };
  const change = (sharing: Changes): void => void settings.update({ sharing: sharing as Sharing });
  const folder = (path: string, more: Changes = {}): void =>
    change({ kind: 'folder', folder: { path, limitBytes: 0 }, ...more });
  return { data, settings, make, service: make(), change, folder };
}

const NEVER = new AbortController().signal;

const KEYRING: Keyring = {
  available: () => Promise.resolve(true),
  encrypt: (text) => Promise.resolve(Buffer.from(text).reverse()),
  decrypt: (encrypted) => Promise.resolve(Buffer.from(encrypted).reverse().toString()),
};

test('off by default: nothing is asked, taken or loaded', async () => {
  const { service } = setUp();
  expect(service.status()).toMatchObject({ state: 'off', where: '', failure: null });
  expect(service.available).toBe(false);
  expect(await service.has(['a'.repeat(64)])).toEqual(new Set());
  expect(await service.open('a'.repeat(64))).toBeUndefined();
});

test('a change of the settings takes effect at once, and what is stored is offered', async () => {
  const { service, folder, change } = setUp();
  const [dir, shared] = [tempDir(), tempDir()];
  const store = await openTestStore({ dir });
  const keys = await fill(store, 3);
  const prefix = model.encodePrefix(1);
  await store.put(prefix.key, prefix.chunk);
  service.shareStored(store);
  let told = 0;
  service.onChange(() => told++);
  folder(shared);
  await expect.poll(() => service.status().written).toBe(3);
  expect(service.status()).toMatchObject({ state: 'ready', where: shared, writable: true, encrypted: false });
  expect(await service.has([...keys, prefix.key])).toEqual(new Set(keys));
  const value = await service.open(keys[0] ?? '');
  const bytes = await value?.read(0, value.bytes);
  expect(Buffer.from(bytes ?? []).equals(readFileSync(chunkPath(dir, keys[0] ?? '')))).toBe(true);
  expect(told).toBeGreaterThan(0);
  change({ kind: 'off' });
  await expect.poll(() => service.status().state).toBe('off');
  expect(await service.has(keys)).toEqual(new Set());
});

test('a command that ends sends what it has computed first', async () => {
  const { service, folder, make } = setUp();
  const [dir, shared] = [tempDir(), tempDir()];
  const store = await openTestStore({ dir });
  const keys = await fill(store, 2);
  folder(shared);
  for (const key of keys) service.offer(key, chunkPath(dir, key));
  await service.sent(NEVER);
  await service.close();
  expect(await make().has(keys)).toEqual(new Set(keys));
});

test('Ctrl-C ends the waiting for a place that says nothing', async () => {
  const { service, change } = setUp();
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  change({ kind: 'redis', redis: { host: '127.0.0.1', port, tls: false } });
  service.offer('a'.repeat(64), join(tempDir(), 'chunk.kvc'));
  const stop = new AbortController();
  const sent = service.sent(stop.signal);
  await once(silent, 'connection');
  stop.abort();
  await sent;
  expect(service.status()).toMatchObject({ state: 'ready', waiting: 1 });
});

test('while the place is being opened it takes what is offered, unless nothing may be written', async () => {
  const { folder, make } = setUp();
  const [dir, shared] = [tempDir(), tempDir()];
  const keys = await fill(await openTestStore({ dir }), 2);
  folder(shared);
  const opening = make();
  expect(opening.status()).toMatchObject({ state: 'opening', writable: true });
  for (const key of keys) opening.offer(key, chunkPath(dir, key));
  await opening.sent(NEVER);
  expect(await make().has(keys)).toEqual(new Set(keys));
  folder(shared, { readOnly: true });
  expect(make().status()).toMatchObject({ state: 'opening', writable: false });
});

test('secrets are in one file that only its user can read: not in settings or log', async () => {
  const { data, service, change } = setUp();
  const secrets = {
    password: 'pass-1',
    secretAccessKey: 'secret-2',
    encryptionKey: 'phrase-3',
    salt: 'salt-4',
  };
  for (const [name, secret] of Object.entries(secrets))
    await service.setSecret(name as keyof typeof secrets, secret);
  change({ kind: 'redis', redis: { host: '127.0.0.1', port: 1, tls: false } });
  await service.has(['a'.repeat(64)]);
  await service.test();
  const info = await service.info();
  expect(info.secrets).toEqual({
    password: 'file',
    secretAccessKey: 'file',
    encryptionKey: 'file',
    salt: 'file',
  });
  for (const file of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    const path = join(data, file);
    if (!statSync(path).isFile() || path === info.secretsFile) continue;
    for (const secret of Object.values(secrets)) expect(readFileSync(path, 'utf8')).not.toContain(secret);
  }
  expect(JSON.stringify(info)).not.toMatch(/pass-1|secret-2|phrase-3|salt-4/);
  if (process.platform !== 'win32') expect(statSync(info.secretsFile).mode & 0o777).toBe(0o600);
  for (const name of Object.keys(secrets)) await service.setSecret(name as keyof typeof secrets, '');
  expect((await service.info()).secrets).toEqual({});
});

test('with a keyring a secret is encrypted; without the keyring it is asked for again', async () => {
  const { service, folder, settings, data } = setUp(KEYRING);
  const { secrets, secretsFile } = await service.setSecret('encryptionKey', 'phrase-3');
  expect(secrets).toEqual({ encryptionKey: 'keyring' });
  expect(readFileSync(secretsFile, 'utf8')).not.toContain('phrase-3');
  folder(tempDir());
  await service.has([]);
  expect(service.status()).toMatchObject({ state: 'ready', encrypted: true });
  const without = new SharingService({ settings, secrets: secretsFile, log: fileLogger(join(data, 'log')) });
  onTestFinished(() => without.close());
  await without.has([]);
  expect(without.status()).toMatchObject({
    state: 'wrong',
    failure: { values: { reason: 'sharing-noKey' } },
  });
});

describe('values that are to be encrypted', () => {
  /** A machine that shares a folder with encryption and stores two chunks. */
  async function encrypting() {
    const machine = setUp();
    const [dir, shared] = [tempDir(), tempDir()];
    const keys = await fill(await openTestStore({ dir }), 2);
    const { secretsFile } = await machine.service.setSecret('encryptionKey', 'phrase-3');
    machine.folder(shared, { encrypted: machine.settings.current.sharing.encrypted });
    const offer = (service: SharingService): void =>
      keys.forEach((key) => service.offer(key, chunkPath(dir, key)));
    return { ...machine, shared, secretsFile, offer };
  }

  test.each([
    ['when the key is lost, as in a backup on a new machine', undefined, 'sharing-keyMissing'],
    ['when the file of secrets is damaged', '{"version":1,"secr', 'sharing-secrets'],
  ])('are not shared in the clear %s', async (_, content, reason) => {
    const { service, make, shared, secretsFile, offer } = await encrypting();
    await service.close();
    if (content === undefined) rmSync(secretsFile);
    else writeFileSync(secretsFile, content);
    const again = make();
    offer(again);
    await again.has([]);
    expect(again.status()).toMatchObject({
      state: 'wrong',
      writable: false,
      failure: { values: { reason } },
    });
    expect((await again.test()).failure?.values).toMatchObject({ reason });
    expect((await again.info()).secrets).toEqual({});
    expect(readdirSync(shared)).toEqual([]);

    await again.setSecret('encryptionKey', 'phrase-3');
    expect(again.status()).toMatchObject({ state: 'ready', encrypted: true });
    offer(again);
    await again.sent(NEVER);
    expect(readdirSync(shared)).not.toEqual([]);
    const data = dirname(secretsFile);
    const aside = readdirSync(data).filter((name) => name.startsWith('sharing-secrets.json.corrupt-'));
    expect(aside.map((name) => readFileSync(join(data, name), 'utf8'))).toEqual(
      content === undefined ? [] : [content],
    );
  });

  test('are plain again once the key is removed on purpose, and not when other settings change', async () => {
    const { service, folder, shared, settings } = await encrypting();
    await service.has([]);
    expect(service.status()).toMatchObject({ state: 'ready', encrypted: true });
    folder(shared, { readOnly: true }); // does not have the key
    await expect
      .poll(() => service.status())
      .toMatchObject({ state: 'ready', writable: false, encrypted: true });
    expect(settings.current.sharing.encrypted).toBe(true);
    await service.setSecret('encryptionKey', '');
    expect(service.status()).toMatchObject({ state: 'ready', encrypted: false });
    expect(settings.current.sharing.encrypted).toBe(false);
  });
});

test('the test of a folder tells what is wrong with it, and leaves nothing there', async () => {
  const { service, folder, change } = setUp();
  const shared = tempDir();
  folder(shared);
  expect(await service.test()).toMatchObject({ failure: null, where: shared });
  expect(
    readdirSync(shared, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.')),
  ).toEqual([]);
  folder(join(shared, 'nothing'));
  expect((await service.test()).failure?.message).toBe(`Folder not found: ${join(shared, 'nothing')}.`);
  change({ kind: 'redis' });
  expect((await service.test()).failure?.values).toMatchObject({ reason: 'sharing-incomplete' });
  change({ kind: 'redis', redis: { host: 'localhost' }, authorities: join(shared, 'nothing.pem') });
  expect((await service.test()).failure?.values).toMatchObject({ reason: 'sharing-noAuthorities' });
});

test.skipIf(noRedis !== undefined)(
  `the test of a server tells a wrong password${noRedis ? ` (skipped: ${noRedis})` : ''}`,
  async () => {
    const { service, change } = setUp();
    const redis = await startRedis({ password: 'right' });
    onTestFinished(() => redis.stop());
    change({ kind: 'redis', redis: { host: '127.0.0.1', port: redis.port, tls: false } });
    for (const [password, reason] of [
      ['', 'sharing-password'],
      ['wrong', 'sharing-password'],
      ['right', undefined],
    ] as const) {
      await service.setSecret('password', password);
      expect((await service.test()).failure?.values?.['reason']).toBe(reason);
    }
    change({ kind: 'redis', redis: { host: '127.0.0.1', port: redis.port, tls: true } });
    expect((await service.test()).failure).not.toBeNull();
  },
);

test('the test of a bucket tells wrong keys and a missing bucket', async () => {
  const { service, change } = setUp();
  const server = await TestS3.start();
  onTestFinished(() => server.stop());
  const { address: endpoint, bucket, accessKeyId } = server;
  const failing = async (s3: Partial<Sharing['s3']>, secret: string): Promise<string | undefined> => {
    change({ kind: 's3', s3: { endpoint, bucket, accessKeyId, ...s3 } });
    await service.setSecret('secretAccessKey', secret);
    return (await service.test()).failure?.values?.['reason'];
  };
  expect(await failing({}, server.secretAccessKey)).toBeUndefined();
  expect(server.objects.size).toBe(0);
  expect(await failing({}, 'wrong')).toBe('sharing-password');
  expect(await failing({ accessKeyId: 'AKIDOTHER' }, server.secretAccessKey)).toBe('sharing-password');
  expect(await failing({ bucket: 'nothing' }, server.secretAccessKey)).toBe('sharing-noBucket');
  change({ readOnly: true, kind: 's3', s3: { endpoint, accessKeyId, bucket: 'nothing' } });
  expect((await service.test()).failure?.values?.['reason']).toBe('sharing-noBucket');
  expect(await failing({ endpoint: 'http://127.0.0.1:1' }, server.secretAccessKey)).toBe(
    'sharing-unreachable',
  );
});
