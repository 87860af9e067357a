/** The second engine: sessions of models that libllama runs, with truncatable memory, sliding windows, or a recurrent state. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, type AppendReport, type Model, type Session } from '../src-main/engine/engine.ts';
import type { BlendingObstacle } from '../src-shared/blending.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { randomTokens } from '../tools/parity/compare.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import type { OtherArchitecture } from '../tools/random-model/other-shapes.ts';
import { FULL as FULL_FORM } from './support/full.ts';

const FULL = { kind: 'full' } as const;
const OBSTACLES: Record<OtherArchitecture, BlendingObstacle> = {
  starcoder2: 'architecture',
  cohere2: 'architecture',
  mamba: 'running-state',
  lfm2: 'running-state',
  qwen35: 'running-state',
  qwen35moe: 'running-state',
  qwen3next: 'running-state',
  granitehybrid: 'running-state',
  nemotron_h: 'running-state',
  'falcon-h1': 'running-state',
  jamba: 'running-state',
  deepseek2: 'compressed-kv',
};
const ids = (n: number, seed = 1): Int32Array => randomTokens(n, 500, seed);

let engine: Engine;
let dir: string;
beforeAll(() => {
  engine = Engine.open();
  dir = mkdtempSync(join(tmpdir(), 'kvasir-llama-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function append(session: Session, ...texts: Int32Array[]): Promise<AppendReport> {
  return session.append(
    texts.map((tokens) => ({ kind: 'compute', tokens })),
    FULL,
  );
}

async function answer(session: Session, maxTokens = 8): Promise<number[]> {
  return [...(await session.generate({ maxTokens })).tokens];
}

/** One for each kind of memory. */
const SHORT: OtherArchitecture[] = ['starcoder2', 'cohere2', 'mamba', 'lfm2', 'qwen35', 'deepseek2'];
const ARCHITECTURES = FULL_FORM ? (Object.keys(OBSTACLES) as OtherArchitecture[]) : SHORT;

describe.each(ARCHITECTURES)('%s', (architecture) => {
  let model: Model;
  let path: string;
  beforeAll(async () => {
    path = otherModel(architecture, dir);
    model = await engine.loadModel(path, { device: 'cpu', threads: 1 });
  });
  afterAll(() => model.dispose());

  /** The answer of a session without earlier content. */
  async function fresh(...texts: Int32Array[]): Promise<number[]> {
    const session = model.createSession(4096);
    await append(session, ...texts);
    const tokens = await answer(session);
    session.dispose();
    return tokens;
  }

  test('runs on libllama', () => {
    expect(model.info.engine).toBe('llama');
    expect(model.info.obstacle).toBe(OBSTACLES[architecture]);
    expect(model.info.architecture).toBe(architecture);
    expect(model.detokenize(model.tokenize('Grüße'))).toBe('Grüße');
  });

  /** libllama's own answer to a prompt computed as a whole. */
  async function reference(prompt: Int32Array, count: number): Promise<Int32Array> {
    const settings = { contextTokens: 1024, threads: 1, flashAttention: true, ubatch: 512, device: 'cpu' };
    const llama = await engine.loadReference(path, settings);
    await llama.prefill(prompt);
    const { tokens } = await llama.decode(count);
    llama.dispose();
    return tokens;
  }

  test('answers like llama.cpp', async () => {
    const prompt = ids(700);
    const tokens = await reference(prompt, 24);
    const session = model.createSession(4096);
    const report = await append(session, prompt);
    expect(report).toMatchObject({ tokens: 700, processedTokens: 700, reusableTokens: 0 });
    const told: number[] = [];
    const result = await session.generate({ maxTokens: 24, onToken: (token) => told.push(token) });
    expect([...result.tokens]).toEqual([...tokens]);
    expect(told).toEqual([...tokens]);
    expect(result.stop).toBe('length');
    expect(session.length).toBe(724);
    session.dispose();
  });

  test('a second turn computes only new tokens', async () => {
    const session = model.createSession(4096);
    await append(session, ids(20), ids(600, 2));
    const first = await answer(session);
    const question = ids(30, 3);
    expect((await append(session, question)).processedTokens).toBe(30);
    const second = await answer(session);
    session.dispose();
    expect(second).toEqual(await fresh(ids(20), ids(600, 2), Int32Array.from(first), question));
  });

  test('turn by turn, and after a stopped answer, it answers like llama.cpp on the whole prompt', async () => {
    const session = model.createSession(4096);
    let all = ids(64);
    await append(session, all.subarray(0, 20), all.subarray(20));
    for (const [turn, length] of [200, 31, 150].entries()) {
      const controller = new AbortController();
      const result = await session.generate({
        maxTokens: 12,
        signal: controller.signal,
        onToken: () => turn === 1 && controller.abort(),
      });
      const kept = result.tokens.subarray(0, session.length - all.length);
      const question = ids(length, turn + 2);
      all = Int32Array.from([...all, ...kept, ...question]);
      await append(session, question);
    }
    const { tokens } = await session.generate({ maxTokens: 16 });
    session.dispose();
    expect([...tokens]).toEqual([...(await reference(all, 16))]);
  });

  test('the same prompt again computes nothing', async () => {
    const session = model.createSession(4096);
    const prompt = ids(300);
    await append(session, prompt);
    const first = await answer(session);
    session.truncate(299);
    const report = await append(session, prompt.subarray(299));
    expect(report).toMatchObject({ tokens: 1, processedTokens: 0 });
    expect(await answer(session)).toEqual(first);
    session.dispose();
  });

  test('another last question rewinds to the end of the turn before it', async () => {
    const session = model.createSession(4096);
    await append(session, ids(20), ids(300, 2));
    const first = await answer(session);
    const held = session.length;
    await append(session, ids(30, 3));
    await answer(session);
    session.truncate(held);
    expect((await append(session, ids(25, 4))).processedTokens).toBe(25);
    const tokens = await answer(session);
    session.dispose();
    expect(tokens).toEqual(await fresh(ids(20), ids(300, 2), Int32Array.from(first), ids(25, 4)));
  });

  test('another prompt with the same prefix does not recompute the prefix', async () => {
    const session = model.createSession(4096);
    await append(session, ids(64), ids(200, 2));
    await answer(session);
    session.truncate(64);
    expect((await append(session, ids(100, 4))).processedTokens).toBe(100);
    const tokens = await answer(session);
    session.dispose();
    expect(tokens).toEqual(await fresh(ids(64), ids(100, 4)));
  });

  test('a branch and its origin continue independently', async () => {
    const session = model.createSession(4096);
    await append(session, ids(64), ids(200, 2));
    const first = await answer(session);
    const branch = await session.fork(64);
    expect(branch.length).toBe(64);
    await append(branch, ids(50, 5));
    expect(await answer(branch)).toEqual(await fresh(ids(64), ids(50, 5)));
    await append(session, ids(10, 6));
    expect(await answer(session)).toEqual(
      await fresh(ids(64), ids(200, 2), Int32Array.from(first), ids(10, 6)),
    );
    branch.dispose();
    session.dispose();
  });

  test('alternating sessions keep their content', async () => {
    const sessions = [1, 2, 3].map((seed) => ({ seed, session: model.createSession(4096) }));
    for (const { seed, session } of sessions) await append(session, ids(100 * seed, seed));
    for (const { seed, session } of sessions) {
      expect((await append(session, ids(20, 9))).processedTokens).toBe(20);
      const tokens = await answer(session);
      expect(tokens).toEqual(await fresh(ids(100 * seed, seed), ids(20, 9)));
      session.dispose();
    }
  });

  test('a session grows beyond its initial context', async () => {
    const session = model.createSession(4096);
    await append(session, ids(1000));
    expect((await append(session, ids(1500, 2))).processedTokens).toBe(1500);
    const tokens = await answer(session);
    session.dispose();
    expect(tokens).toEqual(await fresh(ids(1000), ids(1500, 2)));
  });

  test('stopped during a prompt, a session is unchanged', async () => {
    const session = model.createSession(4096);
    await append(session, ids(200));
    const controller = new AbortController();
    const progress: number[] = [];
    const running = session.append([{ kind: 'compute', tokens: ids(3500, 2) }], FULL, {
      signal: controller.signal,
      onProgress: ({ done, total }) => {
        progress.push(done / total);
        controller.abort();
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    expect(progress[0]).toBeLessThan(1);
    expect(session.length).toBe(200);
    await append(session, ids(30, 3));
    const tokens = await answer(session);
    session.dispose();
    expect(tokens).toEqual(await fresh(ids(200), ids(30, 3)));
  });

  test('stopped during an answer, a session keeps its tokens and continues', async () => {
    const session = model.createSession(4096);
    await append(session, ids(100));
    const controller = new AbortController();
    let count = 0;
    const stopped = await session.generate({
      maxTokens: 3000,
      signal: controller.signal,
      onToken: () => {
        if (++count === 3) controller.abort();
      },
    });
    expect(stopped.stop).toBe('aborted');
    const written = stopped.tokens.subarray(0, session.length - 100);
    await append(session, ids(20, 2));
    const tokens = await answer(session);
    session.dispose();
    expect(tokens).toEqual(await fresh(ids(100), written, ids(20, 2)));
  });

  test('reports progress', async () => {
    const session = model.createSession(4096);
    const progress: number[] = [];
    await session.append([{ kind: 'compute', tokens: ids(2000) }], FULL, {
      onProgress: ({ done, total }) => progress.push(done / total),
    });
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
    session.dispose();
  });

  test('memory is allocated only while sessions exist', async () => {
    expect((await model.kvUsage()).used).toBe(0);
    const session = model.createSession(4096);
    await append(session, ids(100));
    expect((await model.kvUsage()).used).toBeGreaterThan(0);
    session.dispose();
    await expect.poll(async () => (await model.kvUsage()).used).toBe(0);
  });

  test('misuse and overlong prompts are errors', async () => {
    const session = model.createSession(64);
    await expect(append(session)).rejects.toThrow(/at least one token/);
    await expect(append(session, ids(65))).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    await expect(append(session, Int32Array.of(100_000))).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    await expect(session.generate({ maxTokens: 1 })).rejects.toThrow(/append/);
    expect(() => session.truncate(1)).toThrow(RangeError);
    await expect(model.encodeChunk(ids(8), 'f16')).rejects.toThrow(TypeError);
    const other = await engine.loadModel(randomModel({ arch: 'llama', type: 'f16', layers: 2 }), {
      device: 'cpu',
    });
    const chunk = await other.encodeChunk(ids(8), 'f16');
    const placing = session.append([{ kind: 'chunk', chunk }], { kind: 'none' });
    await expect(placing).rejects.toThrow(/places no chunks/);
    other.dispose();
    await append(session, ids(64));
    expect(await session.generate({ maxTokens: 5 })).toMatchObject({ stop: 'context' });
    session.dispose();
    expect(() => session.length).toThrow(/disposed/);
  });

  test('disposed while it works, the work completes', async () => {
    const session = model.createSession(1024);
    const running = append(session, ids(900));
    session.dispose();
    expect((await running).tokens).toBe(900);
  });
});
