import type { SearchHit } from '../../src-shared/contract/search.ts';
import type { Hit } from '../catalogue/word-table.ts';
import { isContents, worthwhile } from './cut-off.ts';
import type { SearchIndex } from './search-index.ts';

/** Place in a ranking, from 1, and the score it has there. */
interface Rank {
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
  /** For each of the question's rarest words which of these chunks hold it. */
  rare(chunkIds: readonly number[]): ReadonlySet<number>[];
  /** Similarity of the question's vector to passages that have nothing to do with it; 0 without vectors. */
  unrelated: number;
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
 * A match's neighbours under the same headings get a share of its score for each step away. Those before get more: they often
 * hold the name that the match calls "she" or "it".
 */
const SHARE_BEFORE = 0.6;
const SHARE_AFTER = 0.3;
/** Steps away. */
const REACH = 2;
/** Of a document that a match names the question may ask anything: what follows counts for more where chunks are short. */
const SHARE_AFTER_IN_NAMED = 0.9;

/**
 * "Where does the leader of Project X live?": the match on Project X names a person whose own document has the answer.
 * A document named in a match offers its best chunk, with this share of the match's score on top of its own.
 */
const SHARE_MENTIONED = 0.5;

/**
 * Of the best matches, all that stands near under the same headings is looked through for names: the question is about them, and
 * whom they name often has the answer.
 */
const LEADING = 4;
/** Steps away. */
const FAR = 8;
const SHARE_NAMED_BY_BEST = 0.7;

/** Of the best score: what is there for its neighbours alone, or for being named, needs as much. */
const LEAST_SHARE = 0.25;

/** A chunk, and what documents named in it get for that. */
interface Naming {
  chunkId: number;
  worth: number;
}

/** Matches looked at for each chunk wanted, so that neighbours compete with weaker matches and not the other way round. */
export const MATCHES_PER_CHUNK = 4;

/**
 * Short chunks need what leads up to them: "His favourite dish is lasagne" without the name above it is worse than nothing,
 * since it seems to speak of whoever the prompt named last. So many characters of its section, up to its end, make a chunk
 * stand on its own; at most REACH chunks are brought in for it.
 */
const STANDS_ALONE = 1000;

/** Matches by words that are ranked: where a document that a match names has its best chunk. */
const POOL = 1000;

/** The `topK` best chunks that share words with the question and what stands around them, however little they match. */
export function retrieve(index: SearchIndex, question: string, topK: number): Retrieved[] {
  requireTopK(topK);
  const ranking = fullTextRanking(index, question, topK * MATCHES_PER_CHUNK);
  return chosenOf(index, ranking, ranking.matches, topK);
}

/** The `limit` best matches by words. */
export function fullTextRanking(index: SearchIndex, question: string, limit: number): Ranking {
  const pool = index.search(question, POOL).map((hit, i) => ({
    ...hit,
    fullText: { rank: i + 1, score: hit.score },
    vector: null,
  }));
  const best = new Map<number, Match>();
  for (const match of pool) if (!best.has(match.documentId)) best.set(match.documentId, match);
  return {
    matches: pool.slice(0, limit),
    bestOf(documentId) {
      const first = best.has(documentId) ? undefined : index.firstOf(documentId);
      return best.get(documentId) ?? (first && { ...first, score: 0, fullText: null, vector: null });
    },
    rare: (chunkIds) => index.rareWords(question, chunkIds),
    unrelated: 0,
  };
}

/** The chunks that are worth it, `topK` at most, in prompt order. Empty when nothing matches. */
export function choosePassages(index: SearchIndex, ranking: Ranking, topK: number): Retrieved[] {
  requireTopK(topK);
  return chosenOf(index, ranking, worthwhile(ranking, index), topK, true);
}

/**
 * At most `topK` chunks. Matches bring their neighbours and documents they name; all compete by score for the same budget, and
 * no match gives way to its own neighbours. Of chunks with one text the best comes. Order: documents by their best chunk, the
 * chunks of a document as they stand in it. `sparing`: a match that stands alone brings no neighbours.
 */
function chosenOf(
  index: SearchIndex,
  ranking: Ranking,
  matches: readonly Match[],
  topK: number,
  sparing = false,
): Retrieved[] {
  const candidates = new Map<number, Retrieved>();
  for (const match of matches) {
    if (sparing && standsAlone(match, index))
      offer(candidates, { ...match, ownScore: match.score, reason: 'match' });
    else offerWithNeighbours(candidates, index, match, match.score, 'match');
  }
  const near = [...candidates.values()].sort(byScore).slice(0, topK);
  const naming = near.map(({ chunkId, score }) => ({ chunkId, worth: score * SHARE_MENTIONED }));
  for (const [documentId, score] of namedIn([...naming, ...aroundBest(matches, index)], index)) {
    const best = ranking.bestOf(documentId);
    if (!best) continue;
    const alone = standsAlone(best, index);
    const after = alone ? SHARE_AFTER : SHARE_AFTER_IN_NAMED;
    const named = { ...best, score: best.score + score };
    if (sparing && alone) offer(candidates, { ...named, ownScore: best.score, reason: 'named-in-match' });
    else offerWithNeighbours(candidates, index, best, named.score, 'named-in-match', after);
  }
  const all = [...candidates.values()].sort(byScore);
  const ranked = withoutRepeats(sparing ? all.filter(isWorth(all, index)) : all, index, topK);
  return inReadingOrder(withLeadIns(ranked, candidates, index));
}

/** Tells what stands around matches closely enough; contents pages tell nothing of them. */
function isWorth(all: readonly Retrieved[], index: SearchIndex): (chunk: Retrieved) => boolean {
  const least = (all[0]?.score ?? 0) * LEAST_SHARE;
  const texts = index.texts(all.map(({ chunkId }) => chunkId));
  return ({ chunkId, ownScore, score }) =>
    ownScore > 0 || (score >= least && !isContents(texts.get(chunkId)?.text ?? ''));
}

/**
 * As many chunks as are given: the better half of them, what leads up to these, of the rest first those that fit with all
 * that leads up to them. No match of the better half gives way to what stands around another.
 */
function withLeadIns(
  ranked: readonly Retrieved[],
  candidates: ReadonlyMap<number, Retrieved>,
  index: SearchIndex,
): Retrieved[] {
  const chosen = new Map<number, Retrieved>();
  const add = (chunks: readonly Retrieved[]): void => {
    for (const chunk of chunks)
      if (chosen.size < ranked.length && !chosen.has(chunk.chunkId)) chosen.set(chunk.chunkId, chunk);
  };
  const leadIn = (chunk: Retrieved): Retrieved[] =>
    index
      .before(chunk, REACH, STANDS_ALONE)
      .map(({ chunkId, ordinal }) => candidates.get(chunkId) ?? leadingTo(chunk, chunkId, ordinal));
  const half = Math.ceil(ranked.length / 2);
  add(ranked.slice(0, half));
  add(ranked.slice(0, half).flatMap(leadIn));
  for (const chunk of ranked.slice(half)) {
    const together = [chunk, ...leadIn(chunk)].filter(({ chunkId }) => !chosen.has(chunkId));
    if (chosen.size + together.length <= ranked.length) add(together);
  }
  add(ranked.slice(half));
  return [...chosen.values()];
}

function leadingTo({ documentId, score }: Retrieved, chunkId: number, ordinal: number): Retrieved {
  const place = { chunkId, documentId, ordinal, score: score * SHARE_BEFORE ** 2 };
  return { ...place, ownScore: 0, reason: 'leads-up', fullText: null, vector: null };
}

/** What stands around the best matches: "She reports to Ada Dahl" is about whom the match above it names. */
function aroundBest(matches: readonly Match[], index: SearchIndex): Naming[] {
  return matches.slice(0, LEADING).flatMap((match) => {
    const worth = match.score * SHARE_NAMED_BY_BEST;
    return index.neighbours(match, FAR).map(({ chunkId }) => ({ chunkId, worth }));
  });
}

/** Documents that chunks name, with what the best of these adds to their score. */
function namedIn(chunks: readonly Naming[], index: SearchIndex): Map<number, number> {
  const named = new Map<number, number>();
  for (const { chunkId, worth } of chunks)
    for (const documentId of index.mentions({ chunkId }))
      named.set(documentId, Math.max(named.get(documentId) ?? 0, worth));
  return named;
}

/** The first `count`, without those whose text stands in a better one: headers, licences, copies of a file. */
function withoutRepeats(ranked: readonly Retrieved[], index: SearchIndex, count: number): Retrieved[] {
  const chosen: Retrieved[] = [];
  const seen = new Set<string>();
  for (let from = 0; from < ranked.length && chosen.length < count; from += count) {
    const some = ranked.slice(from, from + count);
    const texts = index.texts(some.map(({ chunkId }) => chunkId));
    for (const chunk of some) {
      const text = (texts.get(chunk.chunkId)?.text ?? '').toLowerCase().replace(/\s+/g, ' ');
      if (chosen.length < count && !seen.has(text)) chosen.push(chunk);
      seen.add(text);
    }
  }
  return chosen;
}

function standsAlone({ chunkId }: Match, index: SearchIndex): boolean {
  return (index.texts([chunkId]).get(chunkId)?.text.length ?? 0) >= STANDS_ALONE;
}

function requireTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1) throw new TypeError('topK must be a positive integer');
}

function offerWithNeighbours(
  candidates: Map<number, Retrieved>,
  index: SearchIndex,
  hit: Match,
  score: number,
  reason: 'match' | 'named-in-match',
  shareAfter = SHARE_AFTER,
): void {
  offer(candidates, { ...hit, score, ownScore: hit.score, reason });
  for (const { chunkId, ordinal } of index.neighbours(hit, REACH)) {
    const before = ordinal < hit.ordinal;
    const share = (before ? SHARE_BEFORE : shareAfter) ** Math.abs(ordinal - hit.ordinal);
    offer(candidates, {
      chunkId,
      documentId: hit.documentId,
      ordinal,
      score: score * share,
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
