/** Loads the addon and checks it against native.ts, with the demo model. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NativeAddon, NativeChunk, NativeSampledToken, NativeSegment } from './native.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DEMO = join(ROOT, 'resources', 'models', 'kvasir-demo.gguf');
const FULL = { kind: 'full' } as const;
const ids = (n: number): Int32Array => Int32Array.from({ length: n }, (_, i) => 10 + i);

describe('the addon is what native.ts says', () => {
  const addon = createRequire(import.meta.url)(join(ROOT, 'build', 'native', 'kvasir.node')) as NativeAddon;
  addon.init(join(ROOT, 'build', 'ggml'));
  const methods = (object: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).sort();

  test('functions', () => {
    const expected: Record<keyof NativeAddon, true> = {
      init: true,
      loadPack: true,
      rest: true,
      version: true,
      listDevices: true,
      readGguf: true,
      readGgufAside: true,
      fingerprintGguf: true,
      checkAdapter: true,
      loadModel: true,
      loadLlamaModel: true,
      readChunkHeader: true,
      verifyChunk: true,
      releaseMemory: true,
      createAbort: true,
      loadReference: true,
      loadEmbedder: true,
      createVectorScan: true,
    };
    expect(Object.keys(addon).sort()).toEqual(Object.keys(expected).sort());
  });

  test('classes', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const session = native.createSession(16);
    const chunk = (
      await native.encodeChunks([ids(4)], new Int32Array(0), 'f16', addon.createAbort())
    )[0] as NativeChunk;
    expect(methods(native)).toEqual(
      [
        'constructor',
        'createSession',
        'kvUsage',
        'setKvBudget',
        'onDevice',
        'deviceTier',
        'setDeviceBudget',
        'exportPrefix',
        'openPrefix',
        'importPrefix',
        'detokenize',
        'dispose',
        'encodeChunks',
        'info',
        'openChunk',
        'receiveChunk',
        'tokenize',
      ].sort(),
    );
    expect(methods(session)).toEqual([
      'adopt',
      'append',
      'capacity',
      'constructor',
      'deviationFrom',
      'dispose',
      'fork',
      'generate',
      'length',
      'logits',
      'reserve',
      'truncate',
      'warm',
    ]);
    expect(methods(chunk)).toEqual(
      [
        'bytes',
        'constructor',
        'converted',
        'dispose',
        'dtype',
        'fail',
        'inMemory',
        'pullIn',
        'receive',
        'save',
        'tokens',
      ].sort(),
    );
    native.dispose();
    const embedder = await addon.loadEmbedder(DEMO, { threads: 1, device: 'cpu' });
    expect(methods(embedder)).toEqual(['constructor', 'dispose', 'embed', 'info', 'rank', 'tokenize'].sort());
    embedder.dispose();
  });

  test('an embedder gives a vector of length 1 a text, and stops when asked', async () => {
    const embedder = await addon.loadEmbedder(DEMO, { threads: 1, device: 'cpu' });
    const { dimension, contextTokens } = embedder.info;
    expect(embedder.info).toMatchObject({ architecture: 'llama', pooling: 'last', threads: 1 });
    expect(contextTokens).toBeGreaterThan(0);
    const vectors = await embedder.embed(['red', 'green'], addon.createAbort());
    expect(vectors).toHaveLength(2 * dimension);
    for (const vector of [vectors.subarray(0, dimension), vectors.subarray(dimension)])
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    const abort = addon.createAbort();
    abort.abort();
    await expect(embedder.embed(['red'], abort)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(embedder.tokenize('red green').length).toBeGreaterThan(embedder.tokenize('red').length);
    expect(() => embedder.embed('red' as never, abort)).toThrow(/texts must be an array/);
    expect(() => embedder.embed([5 as never], abort)).toThrow(/texts\[\] must be a string/);
    embedder.dispose();
    expect(() => embedder.embed(['red'], abort)).toThrow(/disposed/);
  });

  test.each(['loadModel', 'loadLlamaModel'] as const)(
    '%s: a sampled token is told with its chance when asked for',
    async (load) => {
      const native = await addon[load](DEMO, { threads: 1, device: 'cpu' });
      const abort = addon.createAbort();
      const session = native.createSession(64);
      const greedy = { temperature: 0, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1, seed: 0 };
      await session.append(
        [{ kind: 'compute', tokens: native.tokenize('Once upon a', true, false) }],
        FULL,
        abort,
      );
      const logits = session.logits();
      const sampled: (number | NativeSampledToken)[] = [];
      await session.generate(1, { ...greedy, chances: 3 }, abort, (token) => sampled.push(token));
      const sum = logits.reduce((total, logit) => total + Math.exp(logit), 0);
      const expected = [...logits.entries()]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 3)
        .map(([token, logit]) => ({ token, logprob: expect.closeTo(logit - Math.log(sum), 4) as number }));
      expect(sampled).toEqual([{ ...expected[0], top: expected }]);

      session.truncate(0);
      await session.append(
        [{ kind: 'compute', tokens: native.tokenize('Once upon a', true, false) }],
        FULL,
        abort,
      );
      await session.generate(1, greedy, abort, (token) => sampled.push(token));
      expect(sampled[1]).toBe(expected[0]?.token);
      native.dispose();
    },
  );

  test.each(['loadModel', 'loadLlamaModel'] as const)(
    '%s: a grammar says what may be written, whatever is likely',
    async (load) => {
      const native = await addon[load](DEMO, { threads: 1, device: 'cpu' });
      const abort = addon.createAbort();
      const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, repeatPenalty: 1, seed: 7 };
      const written = async (grammar: string): Promise<[string, string]> => {
        const session = native.createSession(64);
        const tokens = native.tokenize('Once upon a', true, false);
        await session.append([{ kind: 'compute', tokens }], FULL, abort);
        const result = await session.generate(40, { ...sampling, grammar }, abort);
        return [native.detokenize(result.tokens, false), result.stop];
      };
      const [text, stop] = await written('root ::= "{" [0-9] [0-9] "}"');
      expect(text).toMatch(/^\{\d\d\}$/);
      expect(stop).toBe('eos');
      await expect(written('root ::= nothing')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
      native.dispose();
    },
  );

  test('layers report the deviation of what was recomputed and of what was left', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const abort = addon.createAbort();
    const chunk = (await native.encodeChunks([ids(40)], new Int32Array(0), 'f16', abort))[0] as NativeChunk;
    const session = native.createSession(128);
    const segments = [
      { kind: 'compute', tokens: ids(20) },
      { kind: 'chunk', chunk },
      { kind: 'compute', tokens: ids(4) },
    ] as const;
    const { layers, checks } = await session.append(
      [...segments],
      { kind: 'deviation', checkLayers: [1], ratios: [0.25] },
      abort,
    );
    const selected = checks[0]?.selected.length ?? 0;
    expect(selected).toBe(10);
    expect(layers[0]).toMatchObject({ recomputed: null, stored: null });
    expect(layers[1]).toMatchObject({ recomputed: { tokens: 10 }, stored: { tokens: 30 } });
    for (const layer of layers.slice(2)) {
      expect(layer).toMatchObject({ recomputed: { tokens: 10 }, stored: null });
      expect(layer.recomputed?.mean).toBeGreaterThan(0);
    }
    native.dispose();
  });

  test('a session tells how far it is from another', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const abort = addon.createAbort();
    const chunk = (await native.encodeChunks([ids(40)], new Int32Array(0), 'f16', abort))[0] as NativeChunk;
    const prompt = async (kind: 'full' | 'none', observe: number) => {
      const session = native.createSession(128);
      const segments: NativeSegment[] = [
        { kind: 'compute', tokens: ids(20) },
        { kind: 'chunk', chunk },
        { kind: 'compute', tokens: ids(6) },
      ];
      await session.append(segments, { kind }, abort, undefined, undefined, observe);
      return session;
    };
    const [full, reused] = [await prompt('full', 4), await prompt('none', 4)];
    const { k, v, attention } = await reused.deviationFrom(full, 10, 30);
    const { layers } = native.info;
    expect([k.length, v.length, attention?.length]).toEqual([layers * 30, layers * 30, layers]);
    // Tokens before the chunk hardly deviate (their rows are only batched differently); all tokens in it do after the
    // first layer.
    const sums = (from: number, to: number): number[] =>
      Array.from({ length: layers - 1 }, (_, i) =>
        v.subarray((i + 1) * 30 + from, (i + 1) * 30 + to).reduce((sum, value) => sum + value, 0),
      );
    const [before, inside] = [sums(0, 10), sums(10, 30)];
    for (const [i, sum] of before.entries()) expect(sum).toBeLessThan(1e-4 * (inside[i] ?? 0));
    expect((await full.deviationFrom(full, 0, 66)).attention?.every((value) => value === 0)).toBe(true);
    expect((await full.deviationFrom(await prompt('none', 0), 0, 66)).attention).toBeNull();
    await expect(full.deviationFrom(reused, 60, 7)).rejects.toThrow(/both sessions must hold/);
    expect(() => full.deviationFrom({} as never, 0, 1)).toThrow(/other must be a session/);
    const other = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    expect(() => full.deviationFrom(other.createSession(8), 0, 1)).toThrow(/of the same model/);
    native.dispose();
    other.dispose();
  });

  test('memory is taken and given back in blocks of as many tokens as the info says', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const { kvBlockTokens } = native.info;
    expect(kvBlockTokens).toBeGreaterThan(0);
    const session = native.createSession(4 * kvBlockTokens);
    const segments: NativeSegment[] = [{ kind: 'compute', tokens: ids(kvBlockTokens + 1) }];
    await session.append(segments, FULL, addon.createAbort());
    expect(await native.kvUsage()).toMatchObject({ used: 2, evictable: 0 });
    session.truncate(0);
    expect(await native.kvUsage()).toMatchObject({ used: 0, evictable: 1 });
    native.dispose();
  });

  test('a model on the processor keeps nothing on a device', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    expect(native.deviceTier()).toBeNull();
    expect(native.onDevice('0'.repeat(64))).toBe(false);
    native.setDeviceBudget(null);
    native.setDeviceBudget(1e9);
    expect(() => native.setDeviceBudget(-1)).toThrow(/bytes must be a number from 0 on/);
    expect(() => native.onDevice(5 as never)).toThrow(/key must be a string/);
    native.dispose();
    expect(() => native.deviceTier()).toThrow(/disposed/);
  });

  test('ranges that make up a chunk are the chunk; ranges outside it are misuse', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const abort = addon.createAbort();
    const chunk = (await native.encodeChunks([ids(40)], new Int32Array(0), 'f16', abort))[0] as NativeChunk;
    const logitsOf = async (...chunks: NativeSegment[]): Promise<Float32Array> => {
      const session = native.createSession(128);
      const segments: NativeSegment[] = [{ kind: 'compute', tokens: ids(20) }, ...chunks];
      await session.append([...segments, { kind: 'compute', tokens: ids(4) }], { kind: 'none' }, abort);
      return session.logits();
    };
    const range = (begin: number, count: number): NativeSegment => ({
      kind: 'chunk',
      chunk,
      range: { begin, count },
    });
    const whole = await logitsOf({ kind: 'chunk', chunk });
    expect(await logitsOf(range(0, 40))).toEqual(whole);
    expect(await logitsOf(range(0, 13), range(13, 27))).toEqual(whole);
    expect(await logitsOf(range(0, 39))).not.toEqual(whole);
    await expect(logitsOf(range(13, 28))).rejects.toThrow(/range/);
    await expect(logitsOf(range(-1, 5))).rejects.toThrow(TypeError);
    await expect(logitsOf(range(0, 0.5))).rejects.toThrow(/segment\.range\.count/);
    native.dispose();
  });

  test('a header says whether a model is for embedding', () => {
    expect(addon.readGguf(DEMO)).toMatchObject({ embedding: false, reranker: false, unsupportedReason: '' });
  });

  test('a header and a fingerprint can be read aside, and are the same', async () => {
    expect(await addon.readGgufAside(DEMO)).toEqual(addon.readGguf(DEMO));
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    expect(await addon.fingerprintGguf(DEMO)).toBe(native.info.fingerprint);
    native.dispose();
    await expect(addon.readGgufAside('/nowhere')).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
    await expect(addon.fingerprintGguf('/nowhere')).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
  });

  test('misuse names the argument', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const session = native.createSession(16);
    const abort = addon.createAbort();
    expect(() => native.tokenize(5 as unknown as string, false, false)).toThrow(/text must be a string/);
    expect(() => native.createSession(0)).toThrow(/capacity/);
    expect(() => session.append([], { kind: 'blend' } as never, abort)).toThrow(/strategy\.kind/);
    expect(() => session.append([{ kind: 'compute', tokens: [1] as never }], FULL, abort)).toThrow(
      /segment\.tokens/,
    );
    expect(() => session.append([{ kind: 'chunk', chunk: {} as never }], FULL, abort)).toThrow(
      /chunk must come from/,
    );
    expect(() => session.append([], FULL, {} as never)).toThrow(/abort must come from/);
    native.dispose();
  });
});
