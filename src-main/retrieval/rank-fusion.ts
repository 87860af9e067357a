import type { Match, Ranking } from './retriever.ts';
import type { Nearest } from './vector-index.ts';

/** Of reciprocal rank fusion: how little the first ranks differ. */
const K = 60;

/**
 * One ranking of two by reciprocal rank fusion: 1 / (60 + rank) in each, summed, which needs no common scale of their
 * scores. Scaled so that the best possible is 1 and what stands at the end of one ranking only is near 0: the shares that
 * neighbours get of a match's score then mean what they mean in a ranking by words.
 */
export function fuseRankings(fullText: Ranking, { hits: vector, unrelated }: Nearest): Ranking {
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
  fused.sort((a, b) => b.score - a.score); // equal ones stay as they stand in the rankings
  return {
    ...fullText,
    unrelated,
    matches: fused,
    bestOf(documentId) {
      const ranked = fused.find((match) => match.documentId === documentId);
      if (ranked) return ranked;
      const unranked = fullText.bestOf(documentId);
      return unranked && { ...unranked, score: 0 };
    },
  };
}
