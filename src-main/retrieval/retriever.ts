import type { SearchHit } from '../../src-shared/contract/search.ts';
import type { Hit } from '../catalogue/word-table.ts';
import type { SearchIndex } from './search-index.ts';

/** Place in a ranking, from 1, and the score it has there. */
export interface Rank {
  rank: number;
  score: number;
}

/** A chunk that matches by itself. */
export interface Match extends Hit {
  fullText: Rank | null;
  vector: Rank | null;
}

/** What matches a question, by whatever means. */
export interface Ranking {
  /** Best first. */
  matches: Match[];
  /** A document's best chunk, with a score on the same scale; its first one when none matches. */
  bestOf(documentId: number): Match | undefined;
}

/** A chunk chosen for a prompt. */
export interface Retrieved extends Match {
  /** Comparable within one retrieval; larger is better. */
  score: number;
  /** Score of the chunk itself; 0 when it was brought in by a neighbour. */
  ownScore: number;
  reason: SearchHit['reason'];
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
export const MATCHES_PER_CHUNK = 4;

/**
 * A chunk never comes without what leads up to it: up to this many chunks before it in its document. "His favourite dish
 * is lasagne" without the name above it is worse than nothing, since it seems to speak of whoever the prompt named last.
 */
const LEAD_IN = 2;

/** At most `topK` chunks that share words with the question. */
export function retrieve(index: SearchIndex, question: string, topK: number): Retrieved[] {
  requireTopK(topK);
  return choosePassages(index, fullTextRanking(index, question, topK * MATCHES_PER_CHUNK), topK);
}

export function fullTextRanking(index: SearchIndex, question: string, limit: number): Ranking {
  const matches = index.search(question, limit).map((hit, i) => ({
    ...hit,
    fullText: { rank: i + 1, score: hit.score },
    vector: null,
  }));
  const byChunk = new Map(matches.map((match) => [match.chunkId, match]));
  return {
    matches,
    bestOf(documentId) {
      const hit = index.bestOf(documentId, question);
      return hit && { ...hit, fullText: byChunk.get(hit.chunkId)?.fullText ?? null, vector: null };
    },
  };
}

/**
 * At most `topK` chunks. Matches bring their neighbours and documents they name; all compete by score for
 * the same budget, and none comes without what leads up to it. Order: documents by their best chunk, the chunks of a document as they stand in it. Empty when nothing
 * matches.
 */
export function choosePassages(index: SearchIndex, ranking: Ranking, topK: number): Retrieved[] {
  requireTopK(topK);
  const candidates = new Map<number, Retrieved>();
  const { matches } = ranking;
  for (const match of matches) offerWithNeighbours(candidates, index, match, match.score, 'match');
  for (const match of matches.slice(0, topK)) {
    for (const documentId of index.mentions(match)) {
      const best = ranking.bestOf(documentId);
      if (!best) continue;
      const score = best.score + match.score * SHARE_MENTIONED;
      offerWithNeighbours(candidates, index, best, score, 'named-in-match');
    }
  }
  const chosen = choose([...candidates.values()].sort(byScore), candidates, index, topK);
  return inReadingOrder(chosen);
}

function requireTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1) throw new TypeError('topK must be a positive integer');
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
  const place = { chunkId, documentId, ordinal, score: score * SHARE_BEFORE ** 2 };
  return { ...place, ownScore: 0, reason: 'leads-up', fullText: null, vector: null };
}

function offerWithNeighbours(
  candidates: Map<number, Retrieved>,
  index: SearchIndex,
  hit: Match,
  score: number,
  reason: 'match' | 'named-in-match',
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
      reason: before ? 'before-match' : 'after-match',
      fullText: null,
      vector: null,
    });
  }
}

/** Keeps the better of two reasons to take a chunk; its own score is never lost. */
function offer(candidates: Map<number, Retrieved>, offered: Retrieved): void {
  const known = candidates.get(offered.chunkId);
  const better = !known || offered.score > known.score ? offered : known;
  const ownScore = Math.max(offered.ownScore, known?.ownScore ?? 0);
  const reason = ownScore > 0 && better.ownScore === 0 ? 'match-and-neighbour' : better.reason;
  const fullText = better.fullText ?? known?.fullText ?? null;
  const vector = better.vector ?? known?.vector ?? null;
  candidates.set(offered.chunkId, { ...better, ownScore, reason, fullText, vector });
}

/** Equal ones stay in the order of the ranking, which goes by content. */
function byScore(a: Retrieved, b: Retrieved): number {
  return b.score - a.score;
}

function inReadingOrder(chunks: readonly Retrieved[]): Retrieved[] {
  // Documents by their best chunk; the sort is stable, so equal ones stay as the ranking has them.
  const documents = [...new Set([...chunks].sort(byScore).map(({ documentId }) => documentId))];
  const place = new Map(documents.map((id, i) => [id, i]));
  return [...chunks].sort(
    (a, b) => (place.get(a.documentId) ?? 0) - (place.get(b.documentId) ?? 0) || a.ordinal - b.ordinal,
  );
}
