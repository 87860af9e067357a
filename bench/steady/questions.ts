import type { ChunkRow } from '../../src-main/catalogue/catalogue.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { exponential, zipf } from '../lib/draws.ts';

/** A chunk of the library, as questions see it. */
export type SteadyChunk = Pick<ChunkRow, 'id' | 'documentId' | 'title' | 'text' | 'tokens' | 'lead'>;

/** Chunks found for a question: those of its prompt, in prompt order, and as many that just missed it. */
export interface Retrieval<C> {
  passages: C[];
  below: C[];
}

export interface SteadyQuestion<C = SteadyChunk> extends Retrieval<C> {
  /** Milliseconds. */
  at: number;
  class: 'question' | 'follow-up';
  text: string;
}

/** 19 % of the users of trace A sent half of the requests ("KVCache in the wild", ATC '25, §3.2): here, documents. */
const DOCUMENT_SKEW = 0.85;
const CHUNK_SKEW = 0.7;
/** About half of the text requests continue (Figure 5), and who is in a conversation stays in it. */
const CONTINUES = 0.5;
const STAYS = 0.78;
/** Times between turns are exponential (Figure 15). The means are assumed, for one person's library. */
const THINK_MS = 110_000;
const CONVERSATION_MS = 240_000;
/** A follow-up asks about a passage at most so many steps away. */
const NEAR = 2;
const ASKED_WORDS = 4;

interface Turn {
  at: number;
  class: SteadyQuestion['class'];
  target: SteadyChunk;
}

/**
 * Questions that all differ, in order of time: a few documents are asked about again and again, and follow-ups ask
 * about the surroundings of the previous passage. `find` retrieves: what a question finds is up to the library.
 */
export function drawQuestions(
  chunks: readonly SteadyChunk[],
  find: (question: string) => Retrieval<SteadyChunk>,
  { count, seed }: { count: number; seed: number },
): SteadyQuestion[] {
  const random = randomFrom(seed);
  const asked = new Set<string>();
  const questions: SteadyQuestion[] = [];
  for (const { target, ...turn } of drawTurns(chunks, count, random)) {
    const text = askAbout(target, random);
    if (asked.has(text)) continue;
    asked.add(text);
    const found = find(text);
    if (found.passages.length > 0) questions.push({ ...turn, text, ...found });
    if (questions.length === count) return questions;
  }
  throw new Error(`The library allows ${questions.length} questions only: make it larger.`);
}

function drawTurns(chunks: readonly SteadyChunk[], count: number, random: () => number): Turn[] {
  const documents = shuffled([...Map.groupBy(chunks, ({ documentId }) => documentId).values()], random);
  const pickDocument = zipf(documents.length, DOCUMENT_SKEW, random);
  const turns: Turn[] = [];
  for (let start = 0; turns.length < 2 * count; start += exponential(CONVERSATION_MS, random)) {
    const document = documents[pickDocument()] ?? [];
    let place = zipf(document.length, CHUNK_SKEW, random)();
    let at = start;
    for (let turn = 1; ; turn++) {
      const target = document[place];
      if (target) turns.push({ at, class: turn === 1 ? 'question' : 'follow-up', target });
      if (random() > (turn === 1 ? CONTINUES : STAYS)) break;
      at += exponential(THINK_MS, random);
      const step = Math.round((random() * 2 - 1) * NEAR);
      place = Math.min(document.length - 1, Math.max(0, place + step));
    }
  }
  return turns.sort((a, b) => a.at - b.at).map((turn) => ({ ...turn, at: Math.round(turn.at) }));
}

/** Names the document and words of the passage. */
function askAbout({ title, text }: SteadyChunk, random: () => number): string {
  const words = [...new Set(text.match(/\p{L}{4,}/gu))];
  return `What does ${title} say about ${shuffled(words, random).slice(0, ASKED_WORDS).join(', ')}?`;
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  return all
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
