import { randomFrom } from '../../src-main/testing/random.ts';
import { exponential, zipf } from './random.ts';
import type { TraceRequest } from './trace.ts';

interface ChunkTraceOptions {
  seed: number;
  requests: number;
}

/** Documents of a library that grows while it is used, and their chunks. */
const DOCUMENTS = 240;
const CHUNKS_EACH = 24;
/** Mean seconds between two conversations, two new documents, two analyses of a whole document. */
const CONVERSATION_EVERY = 240;
const DOCUMENT_EVERY = 1200;
const ANALYSIS_EVERY = 7200;
/** Chunks in a prompt; those of the last turn that a follow-up finds again; probability that there is one. */
const TOP_K = 6;
const FOUND_AGAIN = 0.6;
const GOES_ON = 0.55;
const THINK_SECONDS = 75;
/** Some documents are asked about far more than others, and in one the beginning more than the rest. */
const DOCUMENT_SKEW = 0.9;
const CHUNK_SKEW = 0.7;

/**
 * Chunks as a knowledge base uses them, rather than blocks of prefixes: documents are precomputed when they come in,
 * questions find a few chunks of one document and one elsewhere, follow-ups find most of them again, and now and then
 * an analysis reads a whole document once. What is known of real request streams is used where it applies (exponential
 * times between turns, skewed popularity, about half of the requests in conversations); the rest is assumed.
 */
export function generateChunkTrace({ seed, requests }: ChunkTraceOptions): TraceRequest[] {
  const random = randomFrom(seed);
  const pickDocument = zipf(DOCUMENTS, DOCUMENT_SKEW, random);
  const pickChunk = zipf(CHUNKS_EACH, CHUNK_SKEW, random);
  const chunksOf = (document: number): number[] =>
    Array.from({ length: CHUNKS_EACH }, (_, i) => document * CHUNKS_EACH + i);
  const found = (document: number): number => document * CHUNKS_EACH + pickChunk();
  const trace: TraceRequest[] = [];
  const precompute = (time: number, document: number): void =>
    void trace.push({ time, class: 'precompute', blocks: chunksOf(document), stored: true });

  const converse = (start: number): void => {
    let [time, blocks] = [start, [] as number[]];
    const document = pickDocument();
    for (let turn = 1; turn === 1 || random() < GOES_ON; turn++) {
      const kept = blocks.filter(() => random() < FOUND_AGAIN);
      const chosen = new Set(kept);
      while (chosen.size < TOP_K - 1) chosen.add(found(document));
      while (chosen.size < TOP_K) chosen.add(found(pickDocument()));
      blocks = [...chosen];
      trace.push({ time, class: turn === 1 ? 'question' : 'follow-up', blocks });
      time += exponential(THINK_SECONDS, random);
    }
  };

  // The most asked about are not the oldest: ranks are spread over the time documents come in.
  const arrival = Array.from({ length: DOCUMENTS }, (_, i) => (i * 97) % DOCUMENTS);
  const until = (requests / 2.2) * CONVERSATION_EVERY;
  arrival.forEach((document, i) =>
    precompute(Math.min(i * DOCUMENT_EVERY, until * (i / DOCUMENTS)), document),
  );
  for (let time = 0; time < until; time += exponential(CONVERSATION_EVERY, random)) converse(time);
  for (let time = 0; time < until; time += exponential(ANALYSIS_EVERY, random)) {
    const blocks = chunksOf(Math.floor(random() * DOCUMENTS));
    blocks.forEach((block, i) => trace.push({ time: time + i, class: 'analysis', blocks: [block] }));
  }
  return trace.sort((a, b) => a.time - b.time);
}
