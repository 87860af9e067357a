import type { ChunkText } from '../catalogue/search-scope.ts';
import type { ActiveReranker } from '../models/active-model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import { bestByDocument, type Match, type Ranking } from './types.ts';

/** The best matches, which the reranker reads. */
export const MOST_READ = 30;
/** Passages read in one call; a reranker that takes longer than the time limit stops after one of these. */
const BATCH = 4;
/** Time limit of a question: a large reranker on a slow processor reads only the first few. */
const LIMIT_MS = 2000;

type Texts = (chunkIds: readonly number[]) => Promise<ReadonlyMap<number, ChunkText>>;

/**
 * Scores a question's best matches with a reranker. The scores of the last question are kept: a question is often searched while it is being
 * typed, and again when it is sent.
 */
export class Reranking {
  readonly #clock: Clock;
  #last: { reranker: unknown; question: string; scores: Map<string, number> } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The ranking with its best matches in the reranker's order. ABORTED, and the errors of Embedder.rank. */
  async apply(
    ranking: Ranking,
    question: string,
    { active, textsOf, signal }: { active: ActiveReranker; textsOf: Texts; signal?: AbortSignal | undefined },
  ): Promise<Ranking> {
    const { reranker } = active;
    if (this.#last?.reranker !== reranker || this.#last.question !== question)
      this.#last = { reranker, question, scores: new Map() };
    const { scores } = this.#last;
    const best = ranking.matches.slice(0, MOST_READ);
    const texts = await textsOf(best.map(({ chunkId }) => chunkId));
    const textOf = ({ chunkId }: Match): string => {
      const { title = '', text = '' } = texts.get(chunkId) ?? {};
      return `${title}\n${text}`;
    };
    const missing = [...new Set(best.map(textOf))].filter((text) => !scores.has(text));
    const deadline = this.#clock.now() + LIMIT_MS;
    for (let at = 0; at < missing.length && this.#clock.now() < deadline; at += BATCH) {
      throwIfAborted(signal);
      const some = missing.slice(at, at + BATCH);
      const given = await reranker.rank(question, some, signal);
      some.forEach((text, i) => scores.set(text, given[i] ?? 0));
    }
    return reordered(ranking, (match) => scores.get(textOf(match)));
  }
}

/**
 * Matches with a score come first, best first. They take over the ranking's scores in order, so that a score keeps its meaning for neighbours
 * and named documents; what the reranker found is in `reranked`.
 */
function reordered(ranking: Ranking, scoreOf: (match: Match) => number | undefined): Ranking {
  const read = ranking.matches.slice(0, MOST_READ);
  const scored = read
    .flatMap((match) => {
      const score = scoreOf(match);
      return score === undefined ? [] : [{ match, score }];
    })
    .sort((a, b) => b.score - a.score) // ties stay in ranking order
    .map(({ match, score }, i) => ({ ...match, reranked: { rank: i + 1, score } }));
  const ranked = new Set(scored.map(({ chunkId }) => chunkId));
  const rest = ranking.matches.filter(({ chunkId }) => !ranked.has(chunkId));
  const matches = [...scored, ...rest].map((match, i) => ({
    ...match,
    score: ranking.matches[i]?.score ?? match.score,
  }));
  return { ...ranking, matches, best: bestByDocument(matches, ranking.best) };
}
