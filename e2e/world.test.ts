/** What changes outside of Kvasir while it runs or is closed: the clock, locks of other programs, folders that become read-only. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { App } from '../src-main/app.ts';
import type { ContractClient } from '../src-shared/contract/client.ts';
import { check, withApp, type Clean } from '../tools/faults/disk/check.ts';
import { ask, fill, settled, type Acceptance } from '../tools/faults/disk/contents.ts';
import { DEMO_MODEL } from '../tools/faults/own-model.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { FULL } from './support/full.ts';
import { readyData } from './support/ready-data.ts';

/** With the data folder in it. */
let dir: string;
let data: string;
/** What the data folder contains and must keep. */
const kept: Acceptance[] = [];
const chunks = new Map<string, string>();
let answer: string;

const requireKept = (): Promise<number> => check(dir, kept, { chunks, answer });

beforeAll(async () => {
  dir = tempDir();
  data = await readyData(join(dir, 'data'));
  await withApp(data, async (app, client) => void kept.push(...(await fill(app, client, data))));
  const clean: Clean = { chunks };
  await check(dir, kept, clean);
  answer = clean.answer ?? '';
});
afterAll(() => removeDir(dir));

/** Uploads a document and asks a question; both are kept from then on. */
async function work(app: App, client: ContractClient, name: string): Promise<void> {
  app.start();
  const { id } = await client.call('libraries.create', { name });
  const text = `The ${name} is painted yellow.`;
  await app.libraries.receiveUpload(id, `${name}.txt`, Readable.from([text]));
  kept.push({ kind: 'document', path: `${name}.txt`, text });
  await settled(client);
  expect(await ask(client, (each) => kept.push(each))).toBe(answer);
}

test.each([
  ['far ahead', '2099-12-31T23:59:00Z'],
  ['back', '1990-01-01T00:00:00Z'],
])('with the clock %s everything is kept, and answers stay the same', async (name, now) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) });
  onTestFinished(() => void vi.useRealTimers());
  await withApp(data, (app, client) => work(app, client, name.replace(' ', '-')));
  await requireKept();
  vi.useRealTimers();
  await requireKept();
});

/** Longer than any single wait for a lock. */
const HELD_MS = 40_000;

// Two minutes: writes wait for the lock, and folders are looked at once a minute.
test.runIf(FULL)(
  'while another program holds the catalogue questions are answered, and changes are read once it is released',
  async () => {
    await withApp(data, async (app, client) => {
      app.start();
      await settled(client);
      const other = new SQLite(join(data, 'catalogue.sqlite'));
      onTestFinished(() => void other.close());
      other.exec('BEGIN IMMEDIATE');
      const end = performance.now() + HELD_MS;
      const path = 'ferry.txt';
      const text = 'The ferry leaves the red pier at eight.';
      writeFileSync(join(`${data}-documents`, path), text);
      const library = (await client.call('libraries.list')).find(({ name }) => name === 'data-documents');
      await client.call('libraries.rescan', { id: library?.id ?? '' });
      await expect(client.call('libraries.create', { name: 'Held' })).rejects.toMatchObject({
        code: 'DATABASE_HELD',
      });
      expect(await ask(client, (each) => kept.push(each))).toBe(answer);
      await sleep(Math.max(0, end - performance.now()));
      other.close();
      const before = kept.findIndex((each) => each.kind === 'document' && each.path === path);
      kept.splice(before, 1, { kind: 'document', path, text });
      await vi.waitFor(
        async () => {
          const { items } = await client.call('documents.list', { search: 'ferry', phase: 'ready' });
          expect((await client.call('documents.text', { id: items[0]?.id ?? '' })).text).toBe(text);
        },
        { timeout: 60_000, interval: 100 },
      );
    });
    await requireKept();
  },
);

const CANNOT_FREEZE = 'This user may write to read-only folders and cannot mount.';

/** Makes a folder read-only until the test has ended; false if this user may write everything and cannot mount. */
function freeze(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
    return process.platform !== 'win32';
  }
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', folder]));
    execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a folder that has become read-only', () => {
  test.for<[string, (app: App, client: ContractClient) => Promise<unknown>]>([
    ['models', (_, client) => client.call('models.import', { path: DEMO_MODEL, copy: true })],
    ['backups', (_, client) => client.call('app.backup')],
    [
      'libraries',
      async (app, client) => {
        const { id } = await client.call('libraries.create', { name: 'Read-only' });
        await app.libraries.receiveUpload(id, 'a.txt', Readable.from(['a']));
      },
    ],
  ])('%s: what needs it says so, and everything else works', async ([name, act], { skip }) => {
    if (!freeze(join(data, name))) skip(CANNOT_FREEZE);
    await withApp(data, async (app, client) => {
      expect(app.takeFound()).toEqual([]);
      app.start();
      await expect(act(app, client)).rejects.toMatchObject({ code: 'STORE_READ_ONLY' });
      await settled(client);
      expect(await ask(client, (each) => kept.push(each))).toBe(answer);
    });
  });

  test('documents: they are read as before', async ({ skip }) => {
    if (!freeze(`${data}-documents`)) skip(CANNOT_FREEZE);
    await requireKept();
  });

  test.for(['.', 'cache'])(
    '%s: the start is refused with the reason, and nothing is lost',
    async (name, { skip }) => {
      if (!freeze(join(data, name))) skip(CANNOT_FREEZE);
      await expect(App.open({ dataDir: data })).rejects.toMatchObject({
        code: 'STORE_READ_ONLY',
        message: expect.stringContaining(data) as string,
      });
    },
  );

  test('afterwards nothing is lost', () => requireKept());
});
