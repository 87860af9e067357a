import { isContents, worthwhile } from './cut-off.ts';
import type { SearchIndex } from './search-index.ts';
import { SeenTexts } from './seen-texts.ts';
import { bestByDocument, type Match, type Ranking, type RetrievedChunk } from './types.ts';

/**
 * A match's neighbours under the same headings get a share of its score for each step away. Those before it get more: they often contain
 * the name that the match calls "she" or "it".
 */
const SHARE_BEFORE = 0.6;
const SHARE_AFTER = 0.3;
/** Steps away. */
const REACH = 2;
/** The question may be about anything in a document that a match names: where chunks are short, the following ones count for more. */
const SHARE_AFTER_IN_NAMED = 0.9;

/**
 * "Where does the leader of Project X live?": the match on Project X names a person whose own document has the answer. A document named in
 * a match contributes its best chunk, with this share of the match's score added to its own.
 */
const SHARE_MENTIONED = 0.5;

/**
 * For the best matches, all nearby chunks under the same headings are searched for names: the question is about them, and the documents
 * they name often have the answer.
 */
const LEADING = 4;
/** Steps away. */
const FAR = 8;
const SHARE_NAMED_BY_BEST = 0.7;

/** Share of the best score: chunks added only as neighbours, or for being named, need at least this much. */
const LEAST_SHARE = 0.25;

/** A chunk, and the score that documents named in it get. */
interface DocumentMention {
  chunkId: number;
  worth: number;
}

/** Matches considered for each requested chunk, so that neighbours compete with weaker matches and not the other way round. */
export const MATCHES_PER_CHUNK = 4;

/**
 * Short chunks need the text before them: "His favourite dish is lasagne" without the name above it is worse than nothing, since it seems
 * to refer to whoever the prompt named last. This many characters of its section, up to its end, make a chunk self-contained; at most REACH
 * chunks are added for it.
 */
const STANDS_ALONE = 1000;

/** Number of ranked matches by words; a named document's best chunk is looked up among them. */
const POOL = 1000;

/** The `topK` best chunks that share words with the question, and their surroundings, however weak the match. */
export function retrieve(index: SearchIndex, question: string, topK: number): RetrievedChunk[] {
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
  return { matches: pool.slice(0, limit), best: bestByDocument(pool), unrelated: 0 };
}

/** A document's best chunk; its first one when none matches. */
function bestOf(documentId: number, ranking: Ranking, index: SearchIndex): Match | undefined {
  const first = ranking.best.has(documentId) ? undefined : index.firstOf(documentId);
  return ranking.best.get(documentId) ?? (first && { ...first, score: 0, fullText: null, vector: null });
}

/** The worthwhile chunks, `topK` at most, in prompt order. Empty when nothing matches. */
export function choosePassages(
  index: SearchIndex,
  question: string,
  ranking: Ranking,
  topK: number,
): RetrievedChunk[] {
  requireTopK(topK);
  return chosenOf(index, ranking, worthwhile(ranking, question, index), topK, true);
}

/**
 * At most `topK` chunks. Matches add their neighbours and the documents they name; all compete by score for the same budget, and no match
 * is displaced by its own neighbours. Of chunks with the same text the best is kept, and a third that says nearly the same yields to others.
 * Order: documents by their best chunk, the chunks of a document in document order. `sparing`: a self-contained match adds no neighbours.
 */
function chosenOf(
  index: SearchIndex,
  ranking: Ranking,
  matches: readonly Match[],
  topK: number,
  sparing = false,
): RetrievedChunk[] {
  const candidates = new Map<number, RetrievedChunk>();
  for (const match of matches) {
    if (sparing && standsAlone(match, index))
      offer(candidates, { ...match, ownScore: match.score, reason: 'match' });
    else offerWithNeighbours(candidates, index, match, match.score, 'match');
  }
  const near = [...candidates.values()].sort(byScore).slice(0, topK);
  const naming = near.map(({ chunkId, score }) => ({ chunkId, worth: score * SHARE_MENTIONED }));
  for (const [documentId, score] of namedIn([...naming, ...aroundBest(matches, index)], index)) {
    const best = bestOf(documentId, ranking, index);
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

/** The surroundings of matches; contents pages do not count. */
function isWorth(all: readonly RetrievedChunk[], index: SearchIndex): (chunk: RetrievedChunk) => boolean {
  const least = (all[0]?.score ?? 0) * LEAST_SHARE;
  const texts = index.texts(all.map(({ chunkId }) => chunkId));
  return ({ chunkId, ownScore, score }) =>
    ownScore > 0 || (score >= least && !isContents(texts.get(chunkId)?.text ?? ''));
}

/**
 * As many chunks as given: the better half, the text before these, then of the rest first those that fit with all the text before them. No
 * match of the better half is displaced by the surroundings of another.
 */
function withLeadIns(
  ranked: readonly RetrievedChunk[],
  candidates: ReadonlyMap<number, RetrievedChunk>,
  index: SearchIndex,
): RetrievedChunk[] {
  const chosen = new Map<number, RetrievedChunk>();
  const add = (chunks: readonly RetrievedChunk[]): void => {
    for (const chunk of chunks)
      if (chosen.size < ranked.length && !chosen.has(chunk.chunkId)) chosen.set(chunk.chunkId, chunk);
  };
  const leadIn = (chunk: RetrievedChunk): RetrievedChunk[] =>
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

function leadingTo({ documentId, score }: RetrievedChunk, chunkId: number, ordinal: number): RetrievedChunk {
  const place = { chunkId, documentId, ordinal, score: score * SHARE_BEFORE ** 2 };
  return { ...place, ownScore: 0, reason: 'leads-up', fullText: null, vector: null };
}

/** The surroundings of the best matches: "She reports to Ada Dahl" is about whom the match above it names. */
function aroundBest(matches: readonly Match[], index: SearchIndex): DocumentMention[] {
  return matches.slice(0, LEADING).flatMap((match) => {
    const worth = match.score * SHARE_NAMED_BY_BEST;
    return index.neighbours(match, FAR).map(({ chunkId }) => ({ chunkId, worth }));
  });
}

/** Documents that chunks name, with the highest score that any of these adds. */
function namedIn(chunks: readonly DocumentMention[], index: SearchIndex): Map<number, number> {
  const named = new Map<number, number>();
  for (const { chunkId, worth } of chunks)
    for (const documentId of index.mentions({ chunkId }))
      named.set(documentId, Math.max(named.get(documentId) ?? 0, worth));
  return named;
}

/**
 * The first `count`, without those whose text occurs in a better one: headers, licences, copies of a file. Texts of which
 * two better ones say nearly the same come last: passages that say something else are worth more.
 */
function withoutRepeats(
  ranked: readonly RetrievedChunk[],
  index: SearchIndex,
  count: number,
): RetrievedChunk[] {
  const chosen: RetrievedChunk[] = [];
  const alike: RetrievedChunk[] = [];
  const seen = new SeenTexts();
  for (let from = 0; from < ranked.length && chosen.length < count; from += count) {
    const some = ranked.slice(from, from + count);
    const texts = index.texts(some.map(({ chunkId }) => chunkId));
    for (const chunk of some) {
      const likeness = seen.add(texts.get(chunk.chunkId)?.text ?? '');
      if (likeness !== 'same') (likeness === 'new' ? chosen : alike).push(chunk);
    }
  }
  return [...chosen, ...alike].slice(0, count);
}

function standsAlone({ chunkId }: Match, index: SearchIndex): boolean {
  return (index.texts([chunkId]).get(chunkId)?.text.length ?? 0) >= STANDS_ALONE;
}

function requireTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1) throw new TypeError('topK must be a positive integer');
}

function offerWithNeighbours(
  candidates: Map<number, RetrievedChunk>,
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

/** Keeps the better of two reasons to choose a chunk; its own score is never lost. */
function offer(candidates: Map<number, RetrievedChunk>, offered: RetrievedChunk): void {
  const known = candidates.get(offered.chunkId);
  const better = !known || offered.score > known.score ? offered : known;
  const ownScore = Math.max(offered.ownScore, known?.ownScore ?? 0);
  const reason = ownScore > 0 && better.ownScore === 0 ? 'match-and-neighbour' : better.reason;
  const fullText = better.fullText ?? known?.fullText ?? null;
  const vector = better.vector ?? known?.vector ?? null;
  candidates.set(offered.chunkId, { ...better, ownScore, reason, fullText, vector });
}

/** Ties stay in the order of the ranking, which is determined by content. */
function byScore(a: RetrievedChunk, b: RetrievedChunk): number {
  return b.score - a.score;
}

function inReadingOrder(chunks: readonly RetrievedChunk[]): RetrievedChunk[] {
  // Documents by their best chunk; the sort is stable, so ties keep the order of the ranking.
  const documents = [...new Set([...chunks].sort(byScore).map(({ documentId }) => documentId))];
  const place = new Map(documents.map((id, i) => [id, i]));
  return [...chunks].sort(
    (a, b) => (place.get(a.documentId) ?? 0) - (place.get(b.documentId) ?? 0) || a.ordinal - b.ordinal,
  );
}
