import type { Hit, SearchScope } from '../catalogue/search-scope.ts';
import type { VectorTable } from '../catalogue/vector-table.ts';
import type { WordTable } from '../catalogue/word-table.ts';
import type { WordTerms } from '../catalogue/words.ts';
import { exactHits, type Candidates } from './exact-hits.ts';
import { highlights } from './highlights.ts';
import { choosePassages, fullTextRanking, retrieve } from './retriever.ts';
import { SearchIndex } from './search-index.ts';
import type { FoundChunk, Ranking, RetrievedChunk } from './types.ts';
import { vectorCopy, type VectorCopy } from './vector-copy.ts';

/** What a search by words found. */
export interface WordSearchResult {
  ranking: Ranking;
  /** Words of the question that no chunk contains, with the indexed words searched in their place. */
  misspelt: readonly WordTerms[];
  /** How many of the newest matches were ranked if there were more; null: all were. */
  newest: number | null;
}

/** The reads of the catalogue that take long in a large library. A SearchThread runs them; arguments and results are plain data. */
export class Searcher {
  readonly #words: WordTable;
  readonly #vectors: VectorTable;
  /** Of the last search: most calls concern the same question. */
  #last: { scope: string; version: string; index: SearchIndex } | undefined;

  constructor(words: WordTable, vectors: VectorTable) {
    this.#words = words;
    this.#vectors = vectors;
  }

  /** The `limit` best matches by words. */
  rank(question: string, scope: SearchScope, limit: number): WordSearchResult {
    const index = this.#index(scope);
    const ranking = fullTextRanking(index, question, limit);
    return { ranking, misspelt: index.misspelt(question), newest: index.newest(question) };
  }

  /** The worthwhile chunks of a ranking and their surroundings, `topK` at most, in prompt order. */
  choose(question: string, scope: SearchScope, ranking: Ranking, topK: number): FoundChunk[] {
    const index = this.#index(scope);
    return highlighted(question, index, choosePassages(index, question, ranking, topK));
  }

  /** Matches as they are shown. */
  highlight(question: string, scope: SearchScope, matches: Ranking['matches']): FoundChunk[] {
    const found = matches.map((match) => ({ ...match, ownScore: match.score, reason: 'match' as const }));
    return highlighted(question, this.#index(scope), found);
  }

  /** As retrieve(). */
  retrieve(question: string, scope: SearchScope, topK: number): RetrievedChunk[] {
    return retrieve(this.#index(scope), question, topK);
  }

  /** The ids of a set's chunks in an order that only depends on their texts, and has nothing to do with their places. */
  scattered(chunkSetId: number): number[] {
    return this.#words.scattered(chunkSetId);
  }

  /** The texts of chunks, and the titles above them, by id. */
  texts(chunkIds: readonly number[]): ReturnType<WordTable['texts']> {
    return this.#words.texts(chunkIds);
  }

  /** As exactHits(). */
  exactHits(
    model: number,
    query: Float32Array,
    candidates: Candidates,
    limits: { limit: number; floor: number },
  ): Hit[] {
    return exactHits(this.#vectors, model, query, candidates, limits);
  }

  /** The next `limit` vectors after the row `after`. */
  vectorsAfter(model: number, dimension: number, after: number, limit: number): VectorCopy {
    return vectorCopy(this.#vectors.after(model, after, limit), dimension);
  }

  /** The vectors in place of deleted ones. */
  vectorsInPlaceOf(
    model: number,
    dimension: number,
    deleted: readonly (readonly [id: number, chunkId: number])[],
  ): VectorCopy {
    return vectorCopy(this.#vectors.inPlaceOf(model, deleted), dimension);
  }

  #index(scope: SearchScope): SearchIndex {
    const key = JSON.stringify([scope.chunkSetIds, scope.documentIds, [...(scope.standIns ?? [])]]);
    const version = this.#words.counts.version();
    if (this.#last?.scope !== key || this.#last.version !== version)
      this.#last = { scope: key, version, index: new SearchIndex(this.#words, scope) };
    return this.#last.index;
  }
}

function highlighted(question: string, index: SearchIndex, chosen: readonly RetrievedChunk[]): FoundChunk[] {
  const known = index.texts(chosen.map(({ chunkId }) => chunkId));
  const texts = chosen.map(({ chunkId }) => known.get(chunkId)?.text ?? '');
  const near = index.misspelt(question).flatMap(({ terms }) => terms.map(({ text }) => text));
  const ranges = highlights(question, texts, near);
  return chosen.map((chunk, i) => {
    const marked = ranges[i] ?? [];
    const words = marked.map(({ start, end }) => (texts[i] ?? '').slice(start, end).toLowerCase());
    const { fullText, vector, reranked = null } = chunk;
    const foundBy = { words: [...new Set(words)], fullText, vector, reranked };
    return { ...chunk, highlights: marked, foundBy };
  });
}
