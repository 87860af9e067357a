/** Models that libllama runs, in the app: chat, the command line, and the reasons given for not blending. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { whyNotBlended } from '../src-shared/blending.ts';
import { CalibrationRequestSchema } from '../src-shared/contract/calibration.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import type { ModelEntry } from '../src-shared/contract/models.ts';
import {
  chunkFiles,
  DOCUMENTS,
  expectFailure,
  QUESTION,
  removeDir,
  tempDir,
  writeFiles,
} from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { writeGguf } from '../tools/random-model/gguf.ts';
import { otherModel } from '../tools/random-model/other-models.ts';

const WHY = whyNotBlended('Random mamba', 'running-state');

let dir: string;
let model: string;
let library: string;
beforeAll(() => {
  dir = tempDir();
  model = otherModel('mamba', dir);
  library = writeFiles(join(dir, 'docs'), DOCUMENTS);
});
afterAll(() => removeDir(dir));

describe.each([
  ['mamba', 'running-state'],
  ['qwen35', 'running-state'],
  ['deepseek2', 'compressed-kv'],
] as const)('the window’s core with %s', (architecture, obstacle) => {
  const why = whyNotBlended(`Random ${architecture}`, obstacle);
  let app: App;
  let entry: ModelEntry;
  beforeAll(async () => {
    app = await App.open({
      dataDir: join(dir, architecture),
      overrides: { threads: 1, maxTokens: 12, chunkTokens: 64 },
    });
    entry = await app.models.import(otherModel(architecture, dir));
    await app.loader.activate(entry.id); // first, because the demo model would store chunks
    app.start();
    const { id } = app.libraries.create('Docs');
    await app.libraries.addPaths({ id, paths: [library], watch: false });
  });
  afterAll(() => app.close());

  async function ask(id: string, text: string): Promise<Message> {
    const { answerId } = app.chat.send(id, text);
    await app.chat.idle();
    const message = app.chat.get(id).messages.find((candidate) => candidate.id === answerId);
    expect(message?.failure).toBeNull();
    return message!;
  }

  test('reports before a model is used that it does not blend', () => {
    expect(entry).toMatchObject({ obstacle, unsupportedReason: '' });
    expect(app.models.detail(entry.id).header).toContainEqual({
      label: 'Runs here',
      value: `yes, by llama.cpp: ${why}`,
    });
  });

  test('has documents ready without precomputing, and answers turn by turn', async () => {
    const ready = (): boolean =>
      app.libraries.list().every(({ chunks, pending }) => chunks > 0 && pending === 0);
    await expect.poll(ready).toBe(true);
    expect(app.libraries.list()).toMatchObject([{ cachedChunks: 0 }, { cachedChunks: 0 }]);
    const { id } = app.chat.create({ scope: { libraryIds: [], documentIds: [] } });
    const first = await ask(id, QUESTION);
    expect(first.citations.length).toBeGreaterThan(0);
    // The warm start may have computed its beginning.
    expect(first.stats).toMatchObject({ reusedTokens: 0, strategy: { name: 'full' } });
    const second = await ask(id, QUESTION);
    const held = first.stats!.promptTokens + first.stats!.answerTokens;
    expect(second.stats).toMatchObject({ residentTokens: held });
    expect(second.stats?.computedTokens).toBe(second.stats!.promptTokens - held);
    const { plan } = app.chat.report(second.id)!;
    expect(plan).toMatchObject({ reason: 'not-blended', obstacle });
    expect(plan?.predictedTtftMs?.total).toBeGreaterThan(0); // learnt from the first turn
    expect(app.store.list({ kind: 'chunk' })).toEqual([]);
  });

  test('reports why it is not calibrated', async () => {
    await expect(app.calibration.run(CalibrationRequestSchema.parse({}))).rejects.toThrow(why);
  });
});

/** Whether no KV of chunks is stored: checkpoints have version 4 of the format. */
function checkpointsOnly(data: string): boolean {
  return [...chunkFiles(data).keys()].every((file) => file.endsWith('.v4.kvc'));
}

describe('the command line', () => {
  const flags = (where: string): string[] => ['--data', where, '--library', library, '--model', model];

  test('model info shows the engine, and why it does not blend', async () => {
    const { stdout, code } = await runHere(['model', 'info', model]);
    expect(code).toBe(0);
    expect(stdout).toContain(`yes, by llama.cpp: ${WHY}`);
  });

  test('ask answers, and reports that nothing is precomputed', async () => {
    const data = join(dir, 'cli');
    const args = ['--threads', '1', '--max-tokens', '8', '--chunk-tokens', '64', '--json', QUESTION];
    const { stdout, stderr, code } = await runHere(['ask', ...flags(data), '--strategy', 'query', ...args]);
    expect(stderr).toContain(`Note: ${WHY}`);
    expect(code).toBe(0);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(answer).toMatchObject({
      strategy: { kind: 'full' },
      plan: { reason: 'not-blended' },
      prompt: { reusedTokens: 0 },
      library: { precomputed: null },
    });
    expect(checkpointsOnly(data)).toBe(true);
  });

  test('analyse reads a document window by window', async () => {
    const [document = ''] = Object.keys(DOCUMENTS);
    const args = ['--threads', '1', '--chunk-tokens', '64', '--max-tokens', '8', '--window', '1', '--json'];
    const { stdout, stderr, code } = await runHere([
      'analyse',
      ...flags(join(dir, 'cli')),
      ...args,
      document,
      'Summarise this.',
    ]);
    expect(stderr).toContain(`Note: ${WHY}`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'done' });
    expect(checkpointsOnly(join(dir, 'cli'))).toBe(true);
  });

  test('calibrate and a projector as a model are refused with a reason', async () => {
    const calibrated = await runHere(['calibrate', ...flags(join(dir, 'cli')), '--threads', '1']);
    expectFailure(calibrated, 'MODEL_UNSUPPORTED');
    expect(calibrated.stderr).toContain(WHY);
    const projector = writeGguf(join(dir, 'mmproj.gguf'), { 'general.architecture': 'clip' });
    const asked = await runHere([
      'ask',
      '--data',
      join(dir, 'cli'),
      '--library',
      library,
      '--model',
      projector,
      QUESTION,
    ]);
    expectFailure(asked, 'MODEL_UNSUPPORTED');
    expect(asked.stderr).toContain('a projector');
  });
});
