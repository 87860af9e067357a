/** The next start removes the remains of a killed process, and nothing else. */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { readPins } from '../src-main/devices/packs/pins.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { removeDir, tempDir } from './cli-support.ts';

let data: string;
beforeAll(() => {
  data = tempDir();
});
afterAll(() => removeDir(data));

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const replaced = (daysAgo: number): string => {
  const time = new Date(Date.now() - daysAgo * 86_400_000).toISOString().replace(/[-:.]/g, '');
  return `replaced-${time}/settings.json`;
};

/** Copies from before a migration, two months old and new. */
const OLD_COPIES = ['catalogue.sqlite.v7', 'cache/index.db.v2-backup-20260101T100000000Z'];
const NEW_COPIES = ['catalogue.sqlite.v8', 'conversations.sqlite.v5'];

const { release } = readPins(resolvePaths().packPins);

const LEFT = [
  ...OLD_COPIES,
  replaced(31),
  `${dirname(replaced(400))}-1/libraries/a.txt`,
  'restore-unpacking/catalogue.sqlite',
  'restore-ready/old/settings.json',
  'restore-applying/old/settings.json',
  'settings.json.4711.tmp',
  'calibrations.json.4711.tmp',
  'costs.json.tmp',
  'hub-token.json.tmp',
  'backups/Kvasir 2026-01-01 10-00-00.zip.part',
  'backups/Kvasir 2026-01-01 10-00-00.zip.databases/catalogue.sqlite',
  `backups/${ID}.upload`,
  `models/${ID}.upload`,
  'models/tiny.gguf.part',
  `models/tiny.gguf.${ID}.part`,
  `models/${ID}.part/tiny.gguf`, // a hub model whose header was read
  `libraries/${ID}/.incoming/${ID}`,
  `packs/${release}/libggml-vulkan.so.tgz.part`,
  `packs/${release}/libggml-vulkan.so.new`,
  'packs/1.0.0/libggml-vulkan.so', // from another release
];

const KEPT = [
  ...NEW_COPIES,
  `packs/${release}/libggml-vulkan.so`,
  'backups/Kvasir 2026-01-01 10-00-00.zip',
  'backups/notes.txt',
  'models/tiny.gguf',
  'models/waiting.gguf.part', // from a download to be resumed
  `libraries/${ID}/a.part`,
  'catalogue.sqlite.corrupt-20260101T100000000Z',
  replaced(1),
  replaced(29), // less than a month old
  'replaced-by-me/a.txt',
];

test('unfinished files of dead processes are deleted, finished ones and pending downloads are kept', async () => {
  const before = await App.open({ dataDir: data });
  before.registry.database.run(
    `INSERT INTO download (id, name, state, files, added_ms) VALUES ('1', 'x', 'paused', json_array(json_object(
      'url', 'http://127.0.0.1:9/x', 'sha256', '', 'file', 'waiting.gguf', 'bytesTotal', 0, 'validator', '')), 1)`,
  );
  await before.close();
  for (const file of [...LEFT, ...KEPT]) {
    mkdirSync(dirname(join(data, file)), { recursive: true });
    writeFileSync(join(data, file), 'x');
  }
  const twoMonthsAgo = Date.now() / 1000 - 60 * 86_400;
  for (const file of OLD_COPIES) utimesSync(join(data, file), twoMonthsAgo, twoMonthsAgo);
  const after = await App.open({ dataDir: data });
  await after.close();
  expect(LEFT.filter((file) => existsSync(join(data, file)))).toEqual([]);
  expect(KEPT.filter((file) => !existsSync(join(data, file)))).toEqual([]);
});

test('files replaced by the last restore are kept regardless of age', async () => {
  const alone = tempDir();
  try {
    const [old, newest] = [replaced(500), replaced(300)].map((file) => join(alone, file));
    for (const file of [old!, newest!]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'x');
    }
    const app = await App.open({ dataDir: alone });
    await app.close();
    expect([old!, newest!].map((file) => existsSync(file))).toEqual([false, true]);
  } finally {
    removeDir(alone);
  }
});
