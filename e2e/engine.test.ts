/** Long-lived objects of the engine in each of their states, with tiny random models. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomModel } from '../tools/random-model/random-model.ts';
import { Engine, type ChunkKv, type Model, type Segment, type Strategy } from '../src-main/engine/engine.ts';
import { randomTokens } from '../tools/parity/compare.ts';

const shape = { type: 'f16', layers: 3, embd: 256, heads: 4, 'kv-heads': 2, 'head-dim': 64, ff: 512 };
const DEMO = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');
const FULL = { kind: 'full' } as const;

let engine: Engine;
let model: Model;
let dir: string;
function greatestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? NaN))), 0);
}

const ids = (n: number, seed = 1): Int32Array => randomTokens(n, 500, seed);

beforeAll(async () => {
  engine = Engine.open();
  model = await engine.loadModel(randomModel({ arch: 'llama', ...shape }), { device: 'cpu' });
  dir = mkdtempSync(join(tmpdir(), 'kvasir-engine-'));
});
afterAll(() => {
  model.dispose();
  rmSync(dir, { recursive: true, force: true });
});

test.runIf(process.platform === 'linux')(
  'idle threads for file calls end when memory is released',
  async () => {
    const threads = (): number => readdirSync('/proc/self/task').length;
    await engine.releaseMemory();
    const before = threads();
    const calls = Array.from({ length: 8 }, () => engine.verifyChunk(join(dir, 'none.kvc')));
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).not.toContain('fulfilled');
    expect(threads()).toBeGreaterThanOrEqual(before + 7); // a thread may still have been ending
    await engine.releaseMemory();
    await expect.poll(threads).toBeLessThan(before + 3);
  },
);

describe('text and tokens', () => {
  test.each(['Hello, world.', 'naïve café — 東京 🙂', 'line\n\n  two\ttabs', ''])(
    '%j survives a round trip',
    (text) => {
      expect(model.detokenize(model.tokenize(text))).toBe(text);
    },
  );

  test('control tokens in text stay text unless requested', () => {
    expect(Array.from(model.tokenize('<|eos|>'))).not.toContain(model.info.eosToken);
    expect(Array.from(model.tokenize('<|eos|>', { special: true }))).toEqual([model.info.eosToken]);
  });
});

describe('a session in each of its states', () => {
  test('busy: calls queue up and run in order', async () => {
    const session = model.createSession(256);
    const parts = [ids(40), ids(30, 2), ids(20, 3)];
    const all = parts.map((tokens) => session.append([{ kind: 'compute', tokens }], FULL));
    const reports = await Promise.all(all);
    expect(reports.map((r) => r.tokens)).toEqual([40, 30, 20]);
    expect(session.length).toBe(90);
    session.dispose();
  });

  test('aborted: within a layer, and usable afterwards', async () => {
    const session = model.createSession(4096);
    const controller = new AbortController();
    const running = session.append([{ kind: 'compute', tokens: ids(4000) }], FULL, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    expect(session.length).toBe(0);
    await session.append([{ kind: 'compute', tokens: ids(10) }], FULL);
    expect(session.length).toBe(10);
    session.dispose();
  });

  test('aborted before it began', async () => {
    const session = model.createSession(64);
    const options = { signal: AbortSignal.abort() };
    await expect(session.append([{ kind: 'compute', tokens: ids(10) }], FULL, options)).rejects.toMatchObject(
      { code: 'ABORTED' },
    );
    session.dispose();
  });

  test('generate stops on abort and keeps its tokens', async () => {
    const session = model.createSession(512);
    await session.append([{ kind: 'compute', tokens: ids(10) }], FULL);
    const controller = new AbortController();
    const seen: number[] = [];
    const result = await session.generate({
      maxTokens: 400,
      signal: controller.signal,
      onToken: (token) => {
        seen.push(token);
        if (seen.length === 3) controller.abort();
      },
    });
    // Generation may reach an end token first; either way it must stop.
    expect(['aborted', 'eos']).toContain(result.stop);
    expect(result.tokens.length).toBeLessThan(400);
    expect(Array.from(result.tokens)).toEqual(seen);
    session.dispose();
  });

  test('drafts change no token of an answer that quotes, nor its log-probabilities', async () => {
    const demo = await engine.loadModel(DEMO, { device: 'cpu' });
    const list = '- Ada Lund sits at desk 101.\n- Bo Berg sits at desk 102.\n- Cy Dahl sits at desk 103.\n';
    const tokens = demo.tokenize(`${list}\n${list}\n- Ada Lund sits`);
    const answer = async (drafting: 'off' | 'always', maxTokens: number) => {
      const session = demo.createSession(512);
      await session.append([{ kind: 'compute', tokens }], FULL);
      const seen: unknown[] = [];
      const sampling = { drafting, chances: 1, repeatPenalty: 1.05, grammar: 'root ::= [^<]*' };
      const onToken = (...sampled: unknown[]): number => seen.push(sampled);
      const result = await session.generate({ maxTokens, sampling, onToken });
      const logits = session.logits();
      session.dispose();
      return { ...result, seen, logits };
    };
    const without = await answer('off', 100);
    const drafted = await answer('always', 100);
    expect(drafted.seen).toEqual(without.seen);
    expect(drafted.logits).toEqual(without.logits);
    expect(without.drafted).toBe(0);
    expect(drafted.accepted).toBeGreaterThan(0);
    expect(drafted.drafted).toBeGreaterThanOrEqual(drafted.accepted);
    demo.dispose();
  });

  test('a full context ends generation', async () => {
    const session = model.createSession(12);
    await session.append([{ kind: 'compute', tokens: ids(12) }], FULL);
    const result = await session.generate({ maxTokens: 5 });
    expect(['context', 'eos']).toContain(result.stop);
    expect(result.tokens.length).toBe(0);
    session.dispose();
  });

  test('disposed: every call fails with that reason, running work completes', async () => {
    const session = model.createSession(256);
    const running = session.append([{ kind: 'compute', tokens: ids(200) }], FULL);
    session.dispose();
    expect((await running).tokens).toBe(200);
    session.dispose();
    expect(() => session.length).toThrow(/disposed/);
    expect(() => session.logits()).toThrow(/disposed/);
    await expect(session.append([], FULL)).rejects.toThrow(/disposed/);
    await expect(session.generate({ maxTokens: 1 })).rejects.toThrow(/disposed/);
  });

  test('misuse across the boundary is an error, not a crash', async () => {
    const session = model.createSession(64);
    await expect(session.append([], FULL)).rejects.toThrow(/at least one token/);
    await expect(session.generate({ maxTokens: 1 })).rejects.toThrow(/append/);
    expect(() => {
      session.truncate(5);
    }).toThrow(RangeError);
    const chunk = await model.encodeChunk(ids(8), 'f16');
    const prompt: Segment[] = [
      { kind: 'chunk', chunk },
      { kind: 'compute', tokens: ids(2) },
    ];
    const bad: Strategy = { kind: 'deviation', checkLayers: [99], ratios: [0.1] };
    await expect(session.append(prompt, bad)).rejects.toThrow(/layer is out of range/);
    session.dispose();
  });
});

describe('chunks', () => {
  test('a chunk of another model is refused when opened and when blended', async () => {
    const other = await engine.loadModel(randomModel({ arch: 'qwen2', ...shape }), { device: 'cpu' });
    const chunk = await other.encodeChunk(ids(8), 'f16');
    const path = join(dir, 'other.kvc');
    await chunk.save(path);
    await expect(model.openChunk(path)).rejects.toMatchObject({ code: 'CHUNK_MISMATCH' });
    const session = model.createSession(64);
    const blend = session.append(
      [
        { kind: 'chunk', chunk },
        { kind: 'compute', tokens: ids(2) },
      ],
      { kind: 'none' },
    );
    await expect(blend).rejects.toMatchObject({ code: 'CHUNK_MISMATCH', chunkIndex: 0 });
    other.dispose();
  });

  test('directly after its lead a chunk equals the full prefill, from memory and from a file', async () => {
    const [lead, tokens, question] = [ids(9), ids(40, 2), ids(8, 3)];
    const session = model.createSession(128);
    const logitsOf = async (segments: Segment[], strategy: Strategy): Promise<Float32Array> => {
      session.truncate(0);
      await session.append(segments, strategy);
      return session.logits().slice();
    };
    const text = (part: Int32Array): Segment => ({ kind: 'compute', tokens: part });
    const before = Int32Array.of(...model.encodingPrefix, ...lead);
    const full = await logitsOf([before, tokens, question].map(text), FULL);
    const path = join(dir, 'led.kvc');
    const led = await model.encodeChunk(tokens, 'f16', { lead });
    await led.save(path);
    const placed = (chunk: ChunkKv): Segment[] => [text(before), { kind: 'chunk', chunk }, text(question)];
    for (const chunk of [led, await model.openChunk(path)]) {
      const reused = await logitsOf(placed(chunk), { kind: 'none' });
      expect(greatestDifference(reused, full)).toBeLessThan(0.1);
    }
    const alone = await logitsOf(placed(await model.encodeChunk(tokens, 'f16')), { kind: 'none' });
    expect(greatestDifference(alone, full)).toBeGreaterThan(1);
    session.dispose();
  });

  test.skipIf(process.platform === 'win32')(
    'a layer whose drive does not respond fails the append',
    async () => {
      const [path, aside] = [join(dir, 'hangs.kvc'), join(dir, 'aside.kvc')];
      await (await model.encodeChunk(ids(33), 'f16')).save(path);
      const chunk = await model.openChunk(path, 1000);
      renameSync(path, aside);
      execFileSync('mkfifo', [path]); // opening it waits for a writer
      const session = model.createSession(64);
      const segments: Segment[] = [
        { kind: 'compute', tokens: model.encodingPrefix },
        { kind: 'chunk', chunk },
        { kind: 'compute', tokens: ids(3) },
      ];
      await expect(session.append(segments, { kind: 'none' })).rejects.toMatchObject({
        ...{ code: 'CHUNK_UNREADABLE', chunkIndex: 1 },
      });
      writeFileSync(path, ''); // the call that waits ends
      renameSync(aside, path);
      session.truncate(0);
      await session.append(segments, { kind: 'none' });
      session.dispose();
    },
  );

  test('header, size and content survive the file', async () => {
    const chunk = await model.encodeChunk(ids(33), 'q8_0');
    const path = join(dir, 'a.kvc');
    const bytes = await chunk.save(path);
    const header = await engine.readChunkHeader(path);
    expect(header).toMatchObject({
      version: 1,
      dtype: 'q8_0',
      layers: 3,
      fileBytes: bytes,
      fingerprint: model.info.fingerprint,
    });
    expect(header.tokens).toEqual(ids(33));
    expect(chunk.bytes).toBe(33 * model.bytesPerToken('q8_0'));
    const opened = await model.openChunk(path);
    expect(opened.inMemory).toBe(false);
    await opened.pullIn();
    expect(opened.inMemory).toBe(true);
  });
});

describe('memory', () => {
  test.each(['f16', 'q8_0'])('weights of %s are loaded once, and all memory is released', async (type) => {
    const big = randomModel({
      arch: 'llama',
      type,
      layers: 8,
      embd: 1024,
      heads: 16,
      'kv-heads': 8,
      'head-dim': 64,
      ff: 3072,
      vocab: 4096,
    });
    const rss = (): number => process.memoryUsage.rss() / 2 ** 20;
    const cycle = async (): Promise<number> => {
      const m = await engine.loadModel(big, { device: 'cpu' });
      const session = m.createSession(8192);
      await session.append([{ kind: 'compute', tokens: ids(64) }], FULL);
      const loaded = rss();
      session.dispose();
      m.dispose();
      // Disposed objects are freed soon, but not immediately, and in parts.
      let last = Infinity;
      const settled = (): boolean => {
        const [was, now] = [last, rss()];
        last = now;
        return Math.abs(now - was) < 1 && now < loaded - 0.7 * weights;
      };
      await expect.poll(settled, { interval: 300 }).toBe(true);
      return loaded;
    };
    const weights = statSync(big).size / 2 ** 20;
    await cycle(); // warms up libraries and allocators
    const before = rss();
    let loaded = 0;
    for (let i = 0; i < 4; i++) loaded = await cycle();
    // The other memory of a short prompt is at most a tenth of the weights.
    expect(loaded - before).toBeGreaterThan(0.9 * weights);
    expect(loaded - before).toBeLessThan(1.3 * weights);
    await expect.poll(rss).toBeLessThan(before + 0.3 * weights);
  });
});
