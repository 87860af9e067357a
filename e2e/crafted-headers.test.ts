/** Files whose headers crash libllama: the app keeps running and reports them as unusable. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import type { GgufValue } from '../tools/random-model/gguf.ts';
import type { OtherArchitecture } from '../tools/random-model/other-shapes.ts';
import { expectFailure, DOCUMENTS, QUESTION, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { runHere } from './support/in-process.ts';

/** Each value is valid alone, but does not match the weights. */
const CASES: [OtherArchitecture, string, GgufValue][] = [
  ['lfm2', 'lfm2.attention.head_count', { u32: 3 }],
  ['qwen35', 'qwen35.ssm.inner_size', { u32: 1000 }],
  ['qwen35', 'qwen35.rope.dimension_sections', { i32s: [1_000_000, 5, 7, 9] }],
];
const ENDED = /^Random \w+ cannot be used: the model crashed during its test run \(SIGABRT\)/;

let dir: string;
beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

describe('the window’s core', () => {
  let app: App;
  beforeAll(async () => {
    app = await App.open({ dataDir: join(dir, 'window'), overrides: { threads: 1 } });
    await app.loader.current();
  });
  afterAll(() => app.close());

  test.each(CASES)('%s: %s', async (architecture, key, value) => {
    const { id } = await app.models.import(otherModel(architecture, dir, { [key]: value }));
    await expect(app.loader.activate(id)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringMatching(ENDED) as string,
    });
    expect(app.loader.active?.id).toBe('demo');
  });

  test('an intact file that replaces one is used', async () => {
    const { id } = await app.models.import(otherModel('lfm2', dir));
    await app.loader.activate(id);
    expect(app.models.get(id)).toMatchObject({ active: true, state: 'ready', failure: null });
    await app.loader.activate('demo');
  });
});

test('the command line reports it', async () => {
  const [architecture, key, value] = CASES[0]!;
  const model = otherModel(architecture, dir, { [key]: value });
  const library = writeFiles(join(dir, 'docs'), DOCUMENTS);
  const flags = ['--data', join(dir, 'cli'), '--library', library, '--threads', '1'];
  const asked = await runHere(['ask', ...flags, '--model', model, QUESTION]);
  expectFailure(asked, 'MODEL_INVALID');
  expect(asked.stderr).toContain('the model crashed during its test run');
});
