/** Models from a hub, through the real program and engine: search, download, answer; with kills and a changed file during the download. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Download } from '../src-shared/contract/models.ts';
import { filesOf } from '../src-main/models/registry/model-parts.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { SHA, sha256Of, TestHub } from '../src-main/testing/hub-server.ts';
import { randomFrom } from '../src-main/testing/random.ts';
import { ask, settled, until } from '../tools/faults/baseline.ts';
import { RunningApp } from '../tools/faults/running-app.ts';
import { randomModel, splitModel } from '../tools/random-model/random-model.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { readyData } from './support/ready-data.ts';

const REPOSITORY = 'ada/Small-GGUF';
const DEMO = readFileSync(resolvePaths().demoModel);
const [PART_1, PART_2] = filesOf(splitModel(randomModel({ arch: 'qwen3', layers: 2, seed: 22 }), 2));

let hub: TestHub;
let data: string;
beforeAll(() => {
  if (PART_1 === undefined || PART_2 === undefined) throw new Error('the model is not split');
});
beforeEach(async () => {
  data = await readyData(tempDir());
  hub = await TestHub.open({
    [REPOSITORY]: {
      files: {
        'Small-Q8_0.gguf': DEMO,
        'Small-F16-00001-of-00002.gguf': readFileSync(PART_1 ?? ''),
        'Small-F16-00002-of-00002.gguf': readFileSync(PART_2 ?? ''),
      },
      task: 'text-generation',
      tags: ['license:apache-2.0'],
    },
  });
});
afterEach(async () => {
  await RunningApp.endAll('SIGKILL');
  hub.close();
  removeDir(data);
});
afterAll(() => RunningApp.endAll('SIGKILL'));

async function start(): Promise<RunningApp> {
  const app = await RunningApp.start(data);
  await app.call('settings.update', { hubAddress: hub.address });
  return app;
}

/** Waits until the only download is in one of these states. */
function until1(app: RunningApp, ...states: Download['state'][]): Promise<Download> {
  return until(async () => {
    const [download] = await app.call('models.downloads', {});
    return download && states.includes(download.state) ? download : undefined;
  });
}

test('a model is found, judged by its header, downloaded, and answers', async () => {
  const app = await start();
  await app.call('settings.update', { chunkTokens: 96, threads: 1 }); // values for the demo model
  await settled(app);
  expect(hub.seen).toEqual([]); // no request before the first search
  const { entries } = await app.call('hub.search', { query: 'small' });
  expect(entries).toMatchObject([{ repository: REPOSITORY, role: 'chat', license: 'apache-2.0' }]);
  const found = await app.call('hub.repository', { repository: REPOSITORY });
  const [demo] = await app.call('models.list', {});
  expect(found.header).toMatchObject({
    architecture: demo?.architecture,
    obstacle: null,
    unsupportedReason: '',
  });
  const file = found.files.find(({ quantization }) => quantization === 'Q8_0');
  expect(file).toMatchObject({ bytes: DEMO.length, recommended: 'largest' });
  expect(file?.fit?.kvBytes).toBe(demo?.fit.kvBytes); // same as for the local file

  await app.call('hub.download', { repository: REPOSITORY, revision: SHA, path: 'Small-Q8_0.gguf' });
  const { modelId } = await until1(app, 'done', 'failed');
  if (modelId === null) throw new Error('the download has no model');
  const { active } = await app.call('models.activate', { id: modelId });
  expect(active).toBe(true);
  await settled(app);
  const { id } = await app.call('chat.create', {});
  await ask(app, id);
  const again = await app.call('hub.repository', { repository: REPOSITORY });
  expect(again.files.find(({ quantization }) => quantization === 'Q8_0')?.local).toEqual({
    id: modelId,
    same: true,
  });
  await app.stop();
});

test('a download that is killed five times resumes, and is verified', async () => {
  const random = randomFrom(20260704);
  hub.pauseMs = 25;
  let app = await start();
  await app.call('hub.download', { repository: REPOSITORY, revision: SHA, path: 'Small-Q8_0.gguf' });
  const had: number[] = [];
  for (let kill = 0; kill < 5; kill++) {
    const before = had.at(-1) ?? 0;
    // At a random time, but only after it has made progress.
    await until(async () => ((await bytesDone(app)) > before ? true : undefined));
    await sleep(300 * random());
    await app.kill();
    had.push(partBytes());
    app = await start();
  }
  hub.pauseMs = 0;
  expect(await until1(app, 'done', 'failed')).toMatchObject({ state: 'done', failure: null });
  expect(sha256Of(readFileSync(join(data, 'models', 'Small-Q8_0.gguf')))).toBe(sha256Of(DEMO));
  expect(readdirSync(join(data, 'models'))).toEqual(['Small-Q8_0.gguf']);
  const ranges = hub.seen.filter(({ server }) => server === 'files').map(({ range }) => range);
  expect(ranges).toEqual([undefined, ...had.map((bytes) => `bytes=${bytes}-`)]);
  await app.stop();
});

async function bytesDone(app: RunningApp): Promise<number> {
  return (await app.call('models.downloads', {}))[0]?.bytesDone ?? 0;
}

function partBytes(): number {
  return readFileSync(join(data, 'models', 'Small-Q8_0.gguf.part')).length;
}

test('a model with a wrong checksum is never listed, the retry is; two files are one model', async () => {
  const app = await start();
  const path = 'Small-F16-00001-of-00002.gguf';
  const part = readFileSync(PART_2 ?? '');
  hub.swapped['Small-F16-00002-of-00002.gguf'] = Buffer.from(part.with(-1, (part.at(-1) ?? 0) ^ 1));
  await app.call('hub.download', { repository: REPOSITORY, revision: SHA, path });
  const { id, failure } = await until1(app, 'done', 'failed');
  expect(failure?.code).toBe('CHECKSUM_MISMATCH');
  expect((await app.call('models.list', {})).map(({ origin }) => origin)).toEqual(['demo']);

  hub.swapped = {};
  await app.call('models.cancelDownload', { id });
  await app.call('hub.download', { repository: REPOSITORY, revision: SHA, path });
  expect(await until1(app, 'done', 'failed')).toMatchObject({ state: 'done' });
  const [, model] = await app.call('models.list', {});
  expect(model).toMatchObject({ origin: 'downloaded', architecture: 'qwen3', unsupportedReason: '' });
  await app.call('models.remove', { id: model?.id ?? '' });
  expect(readdirSync(join(data, 'models'))).toEqual([]);
  await app.stop();
});
