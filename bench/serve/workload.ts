import type { ChunkKv, Model } from '../../src-main/engine/engine.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { exponential, zipf } from '../lib/draws.ts';
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
  /** Arrival time in seconds after the first request. */
  time: number;
  /** Library chunks, in prompt order. */
  chunks: number[];
  question: number;
  answerTokens: number;
}

const SEED = 11;
/** Some chunks are requested more often than others. */
const SKEW = 0.7;

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

/** Draws requests that place different chunks of the library; with a `rate`, they arrive at random at that rate per second. */
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
