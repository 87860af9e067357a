import type { ChunkKv, GivenTokens, Model, Segment, Strategy } from '../../engine/engine.ts';
import { compareLogits } from './compare-logits.ts';
import type { MeasuredDevice } from './protocol.ts';

/**
 * Largest |Δ logit| as a share of the logits' range. A GPU's rounding differs from the CPU's by at most 0.004 of it in
 * what we measured (Vulkan, the demo model in f16); a driver that computes wrongly is off by far more.
 */
const BOUND = 0.02;

const PROMPT_TOKENS = 300;
const QUESTION_TOKENS = 40;
const CHUNKS = 3;
const WRITTEN_TOKENS = 8;
const TIMED_TOKENS = 512;
const TIMED_ROUNDS = 3;
/** Time limit in milliseconds: a slower device is not worth using, so an exact measurement is not needed. */
const TIMED_MS = 5000;

const FULL: Strategy = { kind: 'full' };
/** Every seventh token of the prompt. */
const SPREAD = Int32Array.from({ length: Math.floor(PROMPT_TOKENS / 7) }, (_, i) => 7 * i);

/**
 * Compared on both devices: each strategy uses a different path through the engine and selects the same tokens
 * regardless of rounding.
 */
const BLENDS: readonly { name: string; strategy: Strategy | GivenTokens }[] = [
  { name: 'full reuse', strategy: { kind: 'none' } },
  { name: 'blending', strategy: { kind: 'given', tokens: SPREAD } },
  { name: 'blending with a check layer', strategy: { kind: 'deviation', checkLayers: [1], ratios: [1] } },
];

/** Results of a model, keyed by the name used in messages. */
interface Passes {
  logits: Map<string, Float32Array>;
  written: Int32Array;
}

/** Compares a model on a device with the same model on the CPU: first the results, then the speed. */
export async function measure(here: Model, cpu: Model): Promise<MeasuredDevice> {
  const ids = promptOf(cpu, TIMED_TOKENS);
  const compared = ids.slice(0, PROMPT_TOKENS);
  const wrong = await difference(await passes(here, compared), await passes(cpu, compared), cpu, compared);
  const speeds = { here: [] as number[], cpu: [] as number[] };
  const start = performance.now();
  // Alternate, so that other load on the machine slows both equally.
  while (speeds.here.length <= TIMED_ROUNDS && performance.now() - start < TIMED_MS) {
    speeds.here.push(await tokensPerSecond(here, ids));
    speeds.cpu.push(await tokensPerSecond(cpu, ids));
  }
  return { wrong, tokensPerSecond: warmMedian(speeds.here), cpuTokensPerSecond: warmMedian(speeds.cpu) };
}

async function passes(model: Model, ids: Int32Array): Promise<Passes> {
  const logits = new Map<string, Float32Array>();
  const session = model.createSession(ids.length + WRITTEN_TOKENS);
  const chunks: ChunkKv[] = [];
  try {
    await session.append([{ kind: 'compute', tokens: ids }], FULL);
    logits.set('a prompt', session.logits());
    const { tokens: written } = await session.generate({ maxTokens: WRITTEN_TOKENS });
    const head = model.encodingPrefix;
    const end = ids.length - QUESTION_TOKENS;
    const length = Math.ceil(end / CHUNKS);
    for (let at = 0; at < end; at += length)
      chunks.push(await model.encodeChunk(ids.slice(at, Math.min(end, at + length)), 'f16'));
    const segments: Segment[] = [
      ...(head.length > 0 ? [{ kind: 'compute', tokens: head } as const] : []),
      ...chunks.map((chunk): Segment => ({ kind: 'chunk', chunk })),
      { kind: 'compute', tokens: ids.slice(end) },
    ];
    for (const { name, strategy } of BLENDS) logits.set(name, await logitsOf(model, segments, strategy));
    return { logits, written };
  } finally {
    for (const chunk of chunks) chunk.dispose();
    session.dispose();
  }
}

/** The first result that differs; empty if none does. */
async function difference(here: Passes, there: Passes, cpu: Model, ids: Int32Array): Promise<string> {
  for (const [name, logits] of there.logits)
    if (!close(here.logits.get(name) ?? new Float32Array(logits.length), logits)) return name;
  return (await writeTheSame(here.written, there.written, cpu, ids)) ? '' : 'writing';
}

function close(a: Float32Array, b: Float32Array): boolean {
  return compareLogits(a, b).maxOfRange <= BOUND;
}

async function writeTheSame(
  ours: Int32Array,
  theirs: Int32Array,
  cpu: Model,
  ids: Int32Array,
): Promise<boolean> {
  const at = theirs.findIndex((token, i) => token !== ours[i]);
  if (at < 0) return ours.length === theirs.length;
  const [a, b] = [ours[at], theirs[at]];
  if (a === undefined || b === undefined) return false;
  // Two nearly equally likely tokens may swap ranks through rounding.
  const tokens = Int32Array.from([...ids, ...theirs.slice(0, at)]);
  const logits = await logitsOf(cpu, [{ kind: 'compute', tokens }], FULL);
  const swapped = logits.slice();
  swapped[a] = logits[b] ?? NaN;
  return close(swapped, logits);
}

async function logitsOf(
  model: Model,
  segments: Segment[],
  strategy: Strategy | GivenTokens,
): Promise<Float32Array> {
  const lengths = segments.map((each) => (each.kind === 'chunk' ? each.chunk.tokens : each.tokens).length);
  const session = model.createSession(lengths.reduce((sum, length) => sum + length, 0));
  try {
    await session.append(segments, strategy);
    return session.logits();
  } finally {
    session.dispose();
  }
}

async function tokensPerSecond(model: Model, ids: Int32Array): Promise<number> {
  const start = performance.now();
  await logitsOf(model, [{ kind: 'compute', tokens: ids }], FULL);
  return ids.length / ((performance.now() - start) / 1000);
}

/** Meaningless text without repetition. */
function promptOf(model: Model, length: number): Int32Array {
  const lines = Array.from(
    { length },
    (_, i) => `Room ${i} has ${(i * 37) % 101} chairs and key ${i * 7919}.`,
  );
  return model.tokenize(lines.join('\n'), { addBos: true }).slice(0, length);
}

/** The median of all rounds but the first, which includes one-time costs; with a single round, that one. */
function warmMedian(values: readonly number[]): number {
  const warm = (values.length > 1 ? values.slice(1) : [...values]).sort((a, b) => a - b);
  return warm[warm.length >> 1] ?? 0;
}
