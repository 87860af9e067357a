import { bestByDocument, type Match, type Ranking } from './types.ts';
import type { NearestPassages } from './vector-index.ts';

/**
 * Constant of reciprocal rank fusion: how little the first ranks differ. With the usual 60, passages in the middle of both rankings come
 * before the best of either, which loses it where one of the rankings has nothing to say (decision 0275).
 */
const K = 5;

/**
 * Merges two rankings by reciprocal rank fusion: 1 / (5 + rank) in each, summed, which needs no common scale of their scores. Scaled so
 * that the best possible score is 1 and the end of a single ranking is near 0: the shares of a match's score that neighbours get then mean
 * the same as in a ranking by words.
 */
export function fuseRankings(fullText: Ranking, { hits: vector, unrelated }: NearestPassages): Ranking {
  const matches = new Map<number, Match>(fullText.matches.map((match) => [match.chunkId, { ...match }]));
  vector.forEach((hit, i) => {
    const known = matches.get(hit.chunkId);
    const rank = { rank: i + 1, score: hit.score };
    matches.set(hit.chunkId, { ...(known ?? { ...hit, fullText: null }), vector: rank });
  });
  const depth = Math.max(fullText.matches.length, vector.length);
  const floor = 1 / (K + depth + 1);
  const scale = 2 / (K + 1) - floor;
  const reciprocal = (rank: { rank: number } | null): number => (rank ? 1 / (K + rank.rank) : 0);
  const fused = [...matches.values()].map((match) => ({
    ...match,
    score: (reciprocal(match.fullText) + reciprocal(match.vector) - floor) / scale,
  }));
  fused.sort((a, b) => b.score - a.score); // ties stay in ranking order
  const unranked = [...fullText.best].map(([id, match]) => [id, { ...match, score: 0 }] as const);
  return { unrelated, matches: fused, best: bestByDocument(fused, unranked) };
}
