import type { ChunkKv, KvDtype } from '../engine/engine.ts';
import { sameTokens } from '../platform/token-bytes.ts';
import { keyFor, type ChunkCache, type FusionModel, type TokensWithLead } from './model.ts';

const NO_TOKENS = new Int32Array();

/** The text between two chunks, if one is encoded after everything that the other one is, and that one itself; else undefined. */
export function textBetween(
  { tokens, lead = NO_TOKENS }: TokensWithLead,
  { lead: later = NO_TOKENS }: TokensWithLead,
): Int32Array | undefined {
  const end = lead.length + tokens.length;
  const continues =
    later.length >= end &&
    sameTokens(later.subarray(0, lead.length), lead) &&
    sameTokens(later.subarray(lead.length, end), tokens);
  return continues ? later.subarray(end) : undefined;
}

/** Chunks, without repetitions, by the pass that encodes them: each but the first of a pass continues the text of the one before it. */
export function passesOf<C extends TokensWithLead>(chunks: readonly C[]): C[][] {
  const passes: C[][] = [];
  const lengthOf = ({ lead = NO_TOKENS }: C): number => lead.length;
  for (const chunk of chunks.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const isLast = (pass: C[]): boolean => isSame(pass.at(-1) as C, chunk);
    const begun = passes.find((pass) => textBetween(pass.at(-1) as C, chunk));
    if (begun) begun.push(chunk);
    else if (!passes.some(isLast)) passes.push([chunk]);
  }
  return passes;
}

function isSame(one: TokensWithLead, other: TokensWithLead): boolean {
  return sameTokens(one.tokens, other.tokens) && sameTokens(one.lead ?? NO_TOKENS, other.lead ?? NO_TOKENS);
}

interface EncodeOptions {
  dtype: KvDtype;
  label: string;
  /** As for Model.encodeChunk. */
  priority?: number;
  /** As for ChunkStore.put. */
  ahead?: boolean;
  signal?: AbortSignal | undefined;
  /** The tokens of each pass, with those of the lead, and its milliseconds. */
  onEncoded?: (tokens: number, ms: number) => void;
}

/**
 * Computes the KV of chunks and stores it, in as few passes as their leads allow. A chunk that is stored in f16 is converted, which gives
 * the same bytes in milliseconds. ABORTED, CACHE_FULL, DISK_FULL, STORE_READ_ONLY; some of the chunks may be stored by then.
 */
export async function encodeAndStore(
  model: FusionModel,
  store: ChunkCache,
  chunks: readonly TokensWithLead[],
  options: EncodeOptions,
): Promise<void> {
  const { dtype, label, ahead } = options;
  const put = async (chunk: TokensWithLead, kv: ChunkKv): Promise<void> => {
    await store.put(keyFor(model, dtype, chunk), kv, { label, ahead });
  };
  const isExact = (chunk: TokensWithLead): boolean =>
    dtype !== 'f16' && store.has(keyFor(model, 'f16', chunk));
  for (const chunk of chunks.filter(isExact)) {
    const kv = await store.borrow(keyFor(model, 'f16', chunk), model, (exact) => exact.converted(dtype));
    if (kv) await put(chunk, kv).finally(() => kv.dispose());
  }
  const missing = chunks.filter((chunk) => !store.has(keyFor(model, dtype, chunk)));
  for (const pass of passesOf(missing)) {
    const encoded = await encodePass(model, pass, options);
    try {
      for (const [i, chunk] of pass.entries()) await put(chunk, encoded[i] as ChunkKv);
    } finally {
      for (const kv of encoded) kv.dispose();
    }
  }
}

/** The KV of each. What lies between them is computed too, and dropped. */
async function encodePass(
  model: FusionModel,
  pass: readonly TokensWithLead[],
  { dtype, signal, priority, onEncoded }: EncodeOptions,
): Promise<ChunkKv[]> {
  const texts: Int32Array[] = [];
  const wanted = new Set<number>();
  for (const [i, chunk] of pass.entries()) {
    const between = i > 0 ? textBetween(pass[i - 1] as TokensWithLead, chunk) : undefined;
    if (between && between.length > 0) texts.push(between);
    wanted.add(texts.length);
    texts.push(chunk.tokens);
  }
  const lead = pass[0]?.lead;
  const started = performance.now();
  const all = await model.encodeChunks(texts, dtype, { lead, signal, priority });
  const rows = texts.reduce((sum, { length }) => sum + length, lead?.length ?? 0);
  onEncoded?.(rows, performance.now() - started);
  for (const [i, kv] of all.entries()) if (!wanted.has(i)) kv.dispose();
  return all.filter((_, i) => wanted.has(i));
}
