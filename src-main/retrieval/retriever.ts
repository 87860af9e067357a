import type { Hit, SearchIndex } from './search-index.ts';

/** A chunk chosen for a prompt. */
export interface Retrieved {
  chunkId: number;
  documentId: number;
  ordinal: number;
  /** Comparable within one retrieval; larger is better. */
  score: number;
  /** BM25 of the chunk itself; 0 when it was brought in by a neighbour. */
  ownScore: number;
  /** Why it was chosen, for people. */
  reason: string;
}

/**
 * A match's neighbours get a share of its score. The chunk before gets more: it often holds the name that the match
 * calls "she" or "it".
 */
const SHARE_BEFORE = 0.6;
const SHARE_AFTER = 0.3;

/**
 * "Where does the leader of Project X live?": the match on Project X names a person whose own document has the answer.
 * A document named in a match offers its best chunk, with this share of the match's score on top of its own.
 */
const SHARE_MENTIONED = 0.5;

/** Matches looked at for each chunk wanted, so that neighbours compete with weaker matches and not the other way round. */
const MATCHES_PER_CHUNK = 4;

/**
 * A chunk never comes without what leads up to it: up to this many chunks before it in its document. "His favourite dish
 * is lasagne" without the name above it is worse than nothing, since it seems to speak of whoever the prompt named last.
 */
const LEAD_IN = 2;

/**
 * At most `topK` chunks for a question. Matches bring their neighbours and documents they name; all compete by score for
 * the same budget, and none comes without what leads up to it. Order: documents by their best chunk, the chunks of a document as they stand in it. Empty when nothing
 * matches.
 */
export function retrieve(index: SearchIndex, question: string, topK: number): Retrieved[] {
  if (!Number.isInteger(topK) || topK < 1) throw new TypeError('topK must be a positive integer');
  const candidates = new Map<number, Retrieved>();
  const hits = index.search(question, topK * MATCHES_PER_CHUNK);
  for (const hit of hits) offerWithNeighbours(candidates, index, hit, hit.score, 'matches the question');
  for (const hit of hits.slice(0, topK)) {
    for (const documentId of index.mentions(hit)) {
      const best = index.bestOf(documentId, question);
      if (!best) continue;
      const score = best.score + hit.score * SHARE_MENTIONED;
      offerWithNeighbours(candidates, index, best, score, 'its document is named in a match');
    }
  }
  const chosen = choose([...candidates.values()].sort(byScore), candidates, index, topK);
  return inReadingOrder(chosen);
}

/** From the best down, each with what leads up to it, while the whole of that fits. The best one always comes. */
function choose(
  ranked: readonly Retrieved[],
  candidates: ReadonlyMap<number, Retrieved>,
  index: SearchIndex,
  topK: number,
): Retrieved[] {
  const chosen = new Map<number, Retrieved>();
  for (const chunk of ranked) {
    if (chosen.size === topK) break;
    if (chosen.has(chunk.chunkId)) continue;
    const leadIn = index
      .before(chunk, LEAD_IN)
      .filter(({ chunkId }) => !chosen.has(chunkId))
      .map(({ chunkId, ordinal }) => candidates.get(chunkId) ?? leadingTo(chunk, chunkId, ordinal));
    const room = topK - chosen.size - 1;
    if (leadIn.length > room && chosen.size > 0) continue;
    // Nearest first: where even the best chunk's lead-in does not fit, its far end is what gives way.
    for (const each of [chunk, ...leadIn.slice(0, room)]) chosen.set(each.chunkId, each);
  }
  return [...chosen.values()];
}

function leadingTo({ documentId, score }: Retrieved, chunkId: number, ordinal: number): Retrieved {
  const reason = 'leads up to a match';
  return { chunkId, documentId, ordinal, score: score * SHARE_BEFORE ** 2, ownScore: 0, reason };
}

function offerWithNeighbours(
  candidates: Map<number, Retrieved>,
  index: SearchIndex,
  hit: Hit,
  score: number,
  reason: string,
): void {
  offer(candidates, { ...hit, score, ownScore: hit.score, reason });
  for (const { chunkId, ordinal } of index.neighbours(hit)) {
    const before = ordinal < hit.ordinal;
    offer(candidates, {
      chunkId,
      documentId: hit.documentId,
      ordinal,
      score: score * (before ? SHARE_BEFORE : SHARE_AFTER),
      ownScore: 0,
      reason: before ? 'stands before a match' : 'stands after a match',
    });
  }
}

/** Keeps the better of two reasons to take a chunk; its own score is never lost. */
function offer(candidates: Map<number, Retrieved>, offered: Retrieved): void {
  const known = candidates.get(offered.chunkId);
  const better = !known || offered.score > known.score ? offered : known;
  const ownScore = Math.max(offered.ownScore, known?.ownScore ?? 0);
  const reason =
    ownScore > 0 && better.ownScore === 0 ? `matches the question and ${better.reason}` : better.reason;
  candidates.set(offered.chunkId, { ...better, ownScore, reason });
}

function byScore(a: Retrieved, b: Retrieved): number {
  return b.score - a.score || a.chunkId - b.chunkId;
}

function inReadingOrder(chunks: readonly Retrieved[]): Retrieved[] {
  const bestOf = new Map<number, number>();
  for (const { documentId, score } of chunks)
    bestOf.set(documentId, Math.max(score, bestOf.get(documentId) ?? -Infinity));
  return [...chunks].sort(
    (a, b) =>
      (bestOf.get(b.documentId) ?? 0) - (bestOf.get(a.documentId) ?? 0) ||
      a.documentId - b.documentId ||
      a.ordinal - b.ordinal,
  );
}
