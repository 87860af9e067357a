/** Parity checks for one model file. Every check compares two independent ways to compute the same logits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine, KvDtype, Loading, Model, Segment, Strategy } from '../../src-main/engine/engine.ts';
import { compareLogits } from '../../src-main/devices/trial/compare-logits.ts';
import { agreement, randomTokens, rangeOf } from './compare.ts';
import { logitsElsewhere, reference } from './reference.ts';

/** The design's bound on |Δ logit|, as a share of the logits' range. */
export const BOUND = 1e-2;
const PROMPT_TOKENS = 401;
const GREEDY_TOKENS = 64;

/** How many tokens to compare. An emulated device takes seconds where others take milliseconds. */
interface Extent {
  /** Default: 401. */
  promptTokens?: number | undefined;
  /** Tokens decoded after the prompt; default: 64. */
  greedyTokens?: number | undefined;
}

/** More than a block of the KV pool, and more than the windows of small models. */
export const SMALL_EXTENT: Extent = { promptTokens: 73, greedyTokens: 8 };

interface Place {
  /** Device for our engine: 'cpu', or a name from devices(). */
  device?: string;
  /** LoRA adapter file for the model. */
  adapter?: string | undefined;
}

export interface CheckResult {
  name: string;
  /** Largest |Δ logit|, divided by the logits' range. */
  difference: number;
  bound: number;
  ok: boolean;
  note: string;
}

const FULL: Strategy = { kind: 'full' };
const deviation = (ratio: number): Strategy => ({ kind: 'deviation', checkLayers: [1], ratios: [ratio] });

/** One strategy of each kind, for comparing devices: recomputes a fifth of the tokens. */
function strategiesOf(model: Model): Strategy[] {
  const questionLayers = [Math.floor(model.info.layers / 2)];
  return [FULL, { kind: 'none' }, deviation(0.2), { kind: 'query', questionLayers, ratios: [0.2] }];
}

async function logitsOf(
  model: Model,
  segments: Segment[],
  strategy: Strategy,
  loading: Partial<Loading> = {},
): Promise<Float32Array> {
  const session = model.createSession(
    segments.reduce((n, s) => n + (s.kind === 'chunk' ? s.chunk.tokens : s.tokens).length, 8),
  );
  try {
    await session.append(segments, strategy, { loading });
    return session.logits();
  } finally {
    session.dispose();
  }
}

/** Greedy tokens after `ids`; our engine stops at an end token, llama_decode's loop does not. */
async function greedy(
  model: Model,
  ids: Int32Array,
  maxTokens: number,
): Promise<{ logits: Float32Array; tokens: Int32Array; ended: boolean }> {
  const session = model.createSession(ids.length + maxTokens + 8);
  try {
    await session.append([{ kind: 'compute', tokens: ids }], FULL);
    const logits = session.logits();
    const result = await session.generate({ maxTokens });
    return { logits, tokens: result.tokens, ended: result.stop === 'eos' };
  } finally {
    session.dispose();
  }
}

/**
 * Whether the two tokens at which greedy decoding diverged are tied: closer than a tenth of BOUND. Random weights occasionally give such
 * ties, and independent implementations break them differently.
 */
async function isTie(
  model: Model,
  ids: Int32Array,
  ours: Int32Array,
  llama: Int32Array,
  at: number,
): Promise<boolean> {
  const tokens = Int32Array.from([...ids, ...ours.slice(0, at)]);
  const logits = await logitsOf(model, [{ kind: 'compute', tokens }], FULL);
  const gap = Math.abs((logits[ours[at] ?? -1] ?? NaN) - (logits[llama[at] ?? -1] ?? NaN));
  return gap <= (BOUND / 10) * rangeOf(logits);
}

/**
 * Compares our prefill and decode with llama.cpp's. `exact`: weights are f32 or f16, so BOUND applies unchanged and the greedy tokens must
 * agree too. Quantised weights also round the activations, which amplifies differences that are absent otherwise. The bound is then twice
 * the difference between llama.cpp's own two attention paths, if that is larger; or three times that difference if all greedy tokens agree,
 * because those paths round activations alike, to 8 bits, and some of our kernels to 16. On a device other than the CPU, the device's
 * arithmetic counts as well: the reference difference is then between llama.cpp on that device and on the CPU, or between its two attention
 * paths if it crashes on the device. llama.cpp's side always runs on the CPU.
 */
export async function againstLlama(
  engine: Engine,
  model: Model,
  ids: Int32Array,
  exact: boolean,
  { device = 'cpu', adapter, greedyTokens = GREEDY_TOKENS }: Place & Extent = {},
): Promise<CheckResult> {
  const onProcessor = device === 'cpu';
  const options = { threads: model.info.threads, flashAttention: true, device: 'cpu', adapter };
  const llama = await reference(engine, model.path, ids, { ...options, wanted: greedyTokens });
  const there = onProcessor ? undefined : logitsElsewhere(model.path, ids, { ...options, device });
  const plain = { ...options, flashAttention: false };
  const other = there ?? (await reference(engine, model.path, ids, plain)).logits;
  const ours = await greedy(model, ids, greedyTokens);
  const floor = compareLogits(other, llama.logits).maxOfRange;
  const difference = compareLogits(ours.logits, llama.logits).maxOfRange;
  const same = agreement(ours.tokens, llama.tokens);
  const wanted = ours.ended ? ours.tokens.length : greedyTokens;
  const bound = exact && onProcessor ? BOUND : Math.max(BOUND, (same === wanted ? 3 : 2) * floor);
  const tie = same < wanted && (await isTie(model, ids, ours.tokens, llama.tokens, same));
  return {
    name: 'prefill = llama.cpp',
    difference,
    bound,
    ok: difference <= bound && (!exact || !onProcessor || same === wanted || tie),
    note: `${same}/${wanted} greedy tokens${tie ? ', then a tie' : ''}; llama.cpp's two ${there ? 'devices' : 'attention paths'}: ${floor.toExponential(1)}`,
  };
}

/**
 * Identities of blending: each has one right answer, our own full prefill. `rounding` bounds results that are not bit-identical.
 * `processor`: the same model on the CPU if `model` is on another device; every strategy is then compared with it.
 */
export async function identities(
  engine: Engine,
  model: Model,
  ids: Int32Array,
  rounding = BOUND,
  processor?: { model: Model; exact: boolean },
): Promise<CheckResult[]> {
  const full = await logitsOf(model, [{ kind: 'compute', tokens: ids }], FULL);
  const start = model.encodingPrefix.length;
  const prompt = Int32Array.from([...model.encodingPrefix, ...ids.slice(start)]);
  const end = ids.length - 24;
  const cut = start + Math.floor((end - start) / 2.3); // two chunks of unequal length
  const head: Segment[] = start ? [{ kind: 'compute', tokens: prompt.slice(0, start) }] : [];
  const question: Segment = { kind: 'compute', tokens: prompt.slice(end) };
  const base = start ? await logitsOf(model, [{ kind: 'compute', tokens: prompt }], FULL) : full;

  const encode = (from: number, to: number, dtype: KvDtype = 'f16') =>
    model.encodeChunk(prompt.slice(from, to), dtype);
  const one = await encode(start, end);
  const pair = [await encode(start, cut), await encode(cut, end)];
  const pairQ8 = [await encode(start, cut, 'q8_0'), await encode(cut, end, 'q8_0')];
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-parity-'));
  try {
    const stored = [];
    for (const [i, chunk] of pair.entries()) {
      await chunk.save(join(dir, `${i}.kvc`));
      await engine.verifyChunk(join(dir, `${i}.kvc`));
      stored.push(await model.openChunk(join(dir, `${i}.kvc`)));
    }
    const around = (chunks: typeof pair): Segment[] => [
      ...head,
      ...chunks.map((chunk): Segment => ({ kind: 'chunk', chunk })),
      question,
    ];
    const blend = (chunks: typeof pair, strategy: Strategy, loading: Partial<Loading> = {}) =>
      logitsOf(model, around(chunks), strategy, loading);

    const result = (
      name: string,
      a: Float32Array,
      b: Float32Array,
      bound: number,
      note = '',
    ): CheckResult => {
      const difference = compareLogits(a, b).maxOfRange;
      return { name, difference, bound, ok: difference <= bound, note };
    };
    const inMemory = await blend(pair, deviation(0.2));
    const fromFiles = await blend(stored, deviation(0.2));
    // Kernels of other devices may select their algorithm by the number of rows.
    const same = processor ? rounding : 0;
    const note = processor ? '' : 'bit for bit';
    return [
      result('ratio 1 = full prefill', await blend(pair, deviation(1)), base, same, note),
      result('one chunk, ratio 0 = full prefill', await blend([one], { kind: 'none' }), base, rounding),
      result('stored f16 = in memory', fromFiles, inMemory, same, note),
      result(
        'pipelined = serial',
        fromFiles,
        await blend(stored, deviation(0.2), { serial: true }),
        same,
        note,
      ),
      // Not an identity: shows the cost of quantising the stored KV next to the cost of blending two chunks.
      {
        ...result('q8_0 store against f16 store', await blend(pairQ8, deviation(0.2)), inMemory, Infinity),
        note: `blending itself at 20 %: ${compareLogits(inMemory, base).maxOfRange.toExponential(1)}`,
      },
      ...(processor ? await againstProcessor(blend, stored, processor) : []),
    ];

    /** Also blends chunks that were encoded on the device on the CPU. No bound applies if rounding decides which tokens are recomputed. */
    async function againstProcessor(
      here: typeof blend,
      chunks: typeof pair,
      there: { model: Model; exact: boolean },
    ): Promise<CheckResult[]> {
      const moved = await Promise.all(chunks.map((_, i) => there.model.openChunk(join(dir, `${i}.kvc`))));
      const results = [];
      for (const strategy of strategiesOf(model)) {
        const a = await here(chunks, strategy);
        const b = await logitsOf(there.model, around(moved), strategy);
        const bound = there.exact ? 2 * rounding : Infinity;
        results.push(result(`${strategy.kind} = on the processor`, a, b, bound));
      }
      for (const chunk of moved) chunk.dispose();
      return results;
    }
  } finally {
    for (const chunk of [one, ...pair, ...pairQ8]) chunk.dispose();
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function checkModel(
  engine: Engine,
  path: string,
  exact: boolean,
  { promptTokens = PROMPT_TOKENS, greedyTokens, device = 'cpu', adapter }: Place & Extent = {},
): Promise<CheckResult[]> {
  const model = await engine.loadModel(path, { device, adapter });
  const processor = device === 'cpu' ? undefined : await engine.loadModel(path, { device: 'cpu', adapter });
  try {
    const ids = randomTokens(promptTokens, model.info.vocabSize);
    if (model.encodingPrefix.length) ids.set(model.encodingPrefix);
    const llama = await againstLlama(engine, model, ids, exact, { device, adapter, greedyTokens });
    const there = processor && { model: processor, exact };
    return [llama, ...(await identities(engine, model, ids, llama.bound, there))];
  } finally {
    processor?.dispose();
    model.dispose();
  }
}
