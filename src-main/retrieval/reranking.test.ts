import { expect, test } from 'vitest';
import type { ChunkText } from '../catalogue/search-scope.ts';
import { Reranking } from './reranking.ts';
import { bestByDocument, type Match, type Ranking } from './types.ts';

function rankingOf(count: number): Ranking {
  const matches = Array.from({ length: count }, (_, i): Match => {
    const place = { chunkId: i, documentId: i % 2, ordinal: i };
    return { ...place, score: count - i, fullText: { rank: i + 1, score: count - i }, vector: null };
  });
  return {
    matches,
    unrelated: 0,
    best: bestByDocument(matches),
  };
}

const textsOf = async (ids: readonly number[]): Promise<Map<number, ChunkText>> =>
  new Map(ids.map((id) => [id, { title: 'Title', text: String(id) }]));

/** The later in the ranking, the likelier; each call takes this long. */
function rerankerOf(callMs: number) {
  const clock = { ms: 0, now: () => clock.ms };
  const calls: number[] = [];
  const rank = (_: string, texts: readonly string[]): Promise<Float32Array> => {
    clock.ms += callMs;
    calls.push(texts.length);
    return Promise.resolve(
      Float32Array.from(texts, (text) => Number(/^Title\n(\d+)$/.exec(text)?.[1]) / 100),
    );
  };
  const active = { id: 'r', reranker: { info: {} as never, countTokens: () => 1, rank } };
  const reranking = new Reranking(clock as never);
  return { calls, apply: (ranking: Ranking) => reranking.apply(ranking, 'question', { active, textsOf }) };
}

test('the thirty best are read; their order changes and the scores by place stay', async () => {
  const { apply, calls } = rerankerOf(1);
  const ranking = rankingOf(40);
  const reranked = await apply(ranking);
  const { matches } = reranked;
  expect(calls.reduce((sum, count) => sum + count)).toBe(30);
  expect(matches.map(({ chunkId }) => chunkId)).toEqual([
    ...Array.from({ length: 30 }, (_, i) => 29 - i),
    ...Array.from({ length: 10 }, (_, i) => 30 + i),
  ]);
  expect(matches.map(({ score }) => score)).toEqual(ranking.matches.map(({ score }) => score));
  expect(matches[29]).toMatchObject({ chunkId: 0, fullText: { rank: 1 }, reranked: { rank: 30, score: 0 } });
  expect(matches[30]?.reranked).toBeUndefined();
  expect([0, 1].map((id) => reranked.best.get(id)?.chunkId)).toEqual([28, 29]);
});

test('a slow one reads what it can in two seconds; the rest follows in its order', async () => {
  const { apply, calls } = rerankerOf(1500);
  const { matches } = await apply(rankingOf(40));
  expect(calls).toEqual([4, 4]);
  expect(matches.slice(0, 10).map(({ chunkId }) => chunkId)).toEqual([7, 6, 5, 4, 3, 2, 1, 0, 8, 9]);
});
