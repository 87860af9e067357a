import type { ChunkKv, Model } from '../../src-main/engine/engine.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { exponential, zipf } from '../eviction/random.ts';
import { readTrace } from '../eviction/trace.ts';
import { randomIds } from '../ttft/prompt.ts';

export interface PromptShape {
  context: number;
  chunkTokens: number;
  questionTokens: number;
  answerTokens: number;
}

/** A chunk of the library: its token ids, and its KV in memory. */
export interface LibraryChunk {
  tokens: Int32Array;
  kv: ChunkKv;
}

export interface ServeRequest {
  /** Seconds after the first. */
  time: number;
  /** Of the library, in the order of the prompt. */
  chunks: number[];
  question: number;
  answerTokens: number;
}

const SEED = 11;
/** Some chunks are asked about more than others. */
const SKEW = 0.7;
/** Of the public Qwen trace. */
const TRACE_BLOCK = 16;

export async function buildLibrary(
  model: Model,
  count: number,
  chunkTokens: number,
): Promise<LibraryChunk[]> {
  const library: LibraryChunk[] = [];
  for (let i = 0; i < count; i++) {
    const tokens = randomIds(chunkTokens, model.info.vocabSize, 1000 + i);
    library.push({ tokens, kv: await model.encodeChunk(tokens, 'f16') });
    process.stderr.write(`\r  encoding ${i + 1}/${count} chunks of ${chunkTokens} tokens `);
  }
  process.stderr.write('\n');
  return library;
}

/** Requests that place different chunks of the library; with a `rate` they come at random, so many a second. */
export function drawRequests(
  library: number,
  shape: PromptShape,
  count: number,
  rate?: number,
): ServeRequest[] {
  const random = randomFrom(SEED);
  const pick = zipf(library, SKEW, random);
  let time = 0;
  return Array.from({ length: count }, (_, question) => {
    const chunks = new Set<number>();
    while (chunks.size < Math.min(library, Math.round(shape.context / shape.chunkTokens))) chunks.add(pick());
    const request = { time, chunks: [...chunks], question, answerTokens: shape.answerTokens };
    if (rate !== undefined) time += exponential(1 / rate, random);
    return request;
  });
}

/**
 * Requests of a trace, in chunks of as many blocks as make a chunk of ours; what is left of a prompt is its question's. Gives how
 * many different chunks there are.
 */
export function traceRequests(
  path: string,
  { context, chunkTokens, answerTokens }: PromptShape,
  most: number,
): { chunks: number; requests: ServeRequest[] } {
  const numbers = new Map<string, number>();
  const each = chunkTokens / TRACE_BLOCK;
  const all = readTrace(path).slice(0, most);
  const start = all[0]?.time ?? 0;
  const requests = all.map(({ time, blocks }, question): ServeRequest => {
    const chunks: number[] = [];
    for (let at = 0; at + each <= Math.min(blocks.length, context / TRACE_BLOCK); at += each) {
      const key = blocks.slice(at, at + each).join();
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      chunks.push(number);
    }
    return { time: time - start, chunks, question, answerTokens };
  });
  return { chunks: numbers.size, requests };
}
