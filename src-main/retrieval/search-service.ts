import type { ParsedInputOf, OutputOf } from '../../src-shared/contract/contract.ts';
import type { SearchHit } from '../../src-shared/contract/search.ts';
import { parseFilters } from '../../src-shared/search-filters.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { SearchScope } from '../catalogue/search-scope.ts';
import type { EmbedderSource, ModelSource } from '../models/active-model.ts';
import { asPassage, asQuestion } from '../models/embedding/rules.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { fuseRankings } from './rank-fusion.ts';
import { MOST_READ, Reranking } from './reranking.ts';
import { MATCHES_PER_CHUNK } from './retriever.ts';
import type { SearchRunner } from './search-thread.ts';
import type {
  ChunkSets,
  DocumentIndexer,
  RetrievalResult,
  FoundChunk,
  Ranking,
  Retrieval,
  WordSearch,
} from './types.ts';
import { usualTopK } from './usual-top-k.ts';
import type { VectorIndexes } from './vector-indexes.ts';

interface SearchServiceOptions {
  catalogue: Pick<Catalogue, 'chunkTable' | 'filter' | 'pageLabel'>;
  searches: SearchRunner;
  vectors: VectorIndexes;
  sets: ChunkSets;
  models: EmbedderSource & Pick<ModelSource, 'onChange'>;
  gate: Gate;
  log: Logger;
  clock?: Clock;
}

type FindOptions = Parameters<Retrieval['find']>[1];

/** Texts embedded in one call; an abort loses at most this many. */
const BATCH = 8;
/** Of a question's matches, as many times the passages that it reads count as found: the next question often reads them. */
const BELOW_CUT = 2;

/** Retrieves passages: by words, by vectors when an embedding model is in use, and in a reranker's order when there is one. */
export class SearchService implements Retrieval, WordSearch, DocumentIndexer {
  readonly #options: SearchServiceOptions;
  readonly #clock: Clock;
  readonly #unsubscribe: (() => void)[];
  readonly #closing = new AbortController();
  #catchingUp: Promise<void> = Promise.resolve();
  #round: AbortController | undefined;
  readonly #embedding = new SerialQueue();
  readonly #reranking: Reranking;
  #onFound: (chunkIds: readonly number[]) => void = () => undefined;

  constructor(options: SearchServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#reranking = new Reranking(this.#clock);
    this.#unsubscribe = [
      options.models.onEmbedderChange(() => this.#catchUp()),
      // Other chunk sets come into use; they may have no vectors yet.
      options.models.onChange(() => this.#catchUp()),
    ];
  }

  get usualTopK(): number {
    return usualTopK(this.#options.sets.chunkTokens ?? Infinity);
  }

  async find(
    question: string,
    { scope, topK = this.usualTopK, signal }: FindOptions,
  ): Promise<RetrievalResult> {
    const limit = topK * MATCHES_PER_CHUNK;
    const found = await this.#search(question, scope, limit, signal);
    const { ranking, text, where, usedVectors, newest, ms } = found;
    const chunks = await this.#options.searches.run('choose', [text, where, ranking, topK], signal);
    this.#tellFound([...ranking.matches.slice(0, BELOW_CUT * topK), ...chunks]);
    return { chunks, usedVectors, newest, ms };
  }

  async byWords(
    question: string,
    { scope, topK = this.usualTopK }: Omit<FindOptions, 'signal'>,
  ): Promise<number[]> {
    const { text, filters } = parseFilters(question);
    const where = this.#where(scope, filters && this.#options.catalogue.filter.matching(filters));
    const chosen = await this.#options.searches.run('retrieve', [text, where, topK]);
    return chosen.map(({ chunkId }) => chunkId);
  }

  /** Calls a listener with the chunks that each question or search finds, the best first. */
  onFound(listener: (chunkIds: readonly number[]) => void): void {
    this.#onFound = listener;
  }

  #tellFound(chunks: readonly { chunkId: number }[]): void {
    this.#onFound([...new Set(chunks.map(({ chunkId }) => chunkId))]);
  }

  /** The matching passages, best first, with all details of each. ABORTED. */
  async query(
    { text: given, scope, limit }: ParsedInputOf<'search.query'>,
    signal?: AbortSignal,
  ): Promise<OutputOf<'search.query'>> {
    const { ranking, text, where, ...facts } = await this.#search(given, scope, limit, signal);
    const matches = ranking.matches.slice(0, limit);
    this.#tellFound(matches.slice(0, this.usualTopK));
    const found = await this.#options.searches.run('highlight', [text, where, matches], signal);
    return { hits: found.flatMap((chunk) => this.#hit(chunk) ?? []), ...facts };
  }

  /** Ranks passages: by words, then with vectors, then by the reranker, as far as there are such models. */
  async #search(question: string, scope: FindOptions['scope'], limit: number, signal?: AbortSignal) {
    const started = this.#clock.now();
    throwIfAborted(signal);
    const { text, filters } = parseFilters(question);
    const ids = filters && this.#options.catalogue.filter.matching(filters);
    const where = this.#where(scope, ids);
    const depth = this.#options.models.reranker ? Math.max(limit, MOST_READ) : limit;
    const found = await this.#options.searches.run('rank', [text, where, depth], signal);
    const words = found.ranking;
    const fused = await this.#withVectors(words, text, where, depth, signal);
    const reranked = await this.#reranked(fused ?? words, text, signal);
    return {
      text,
      where,
      ranking: reranked ?? fused ?? words,
      usedVectors: fused !== undefined,
      usedReranker: reranked !== undefined,
      filtered: ids?.length ?? null,
      misspelt: found.misspelt.map(({ word }) => word),
      newest: found.newest,
      ms: this.#clock.now() - started,
    };
  }

  missingTokens(chunkSetId: number, documentId: number): number {
    const active = this.#options.models.embedder;
    if (!active) return 0;
    return this.#options.vectors.of(active).missingTokens(chunkSetId, documentId);
  }

  async index(chunkSetId: number, documentId: number, signal: AbortSignal): Promise<number> {
    const made = await this.#embedSome({ chunkSetId, documentId }, 0, signal);
    return made?.tokens ?? 0;
  }

  /** Resolves when the chunks that a change of the embedding model left without vectors have them. */
  idle(): Promise<void> {
    return this.#catchingUp;
  }

  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.#closing.abort();
    await this.#catchingUp;
  }

  /** `filtered`: the documents that the question's filters leave. */
  #where({ libraryIds, documentIds }: FindOptions['scope'], filtered: readonly number[] | null): SearchScope {
    const { sets } = this.#options;
    const named = documentIds.length > 0; // named documents are searched in whatever library they are
    const libraries = named ? libraryIds : (sets.asked?.(libraryIds) ?? libraryIds);
    const ids = named ? documentIds.map(Number) : undefined;
    const left = filtered && new Set(filtered);
    return {
      chunkSetIds: sets.chunkSets(libraries),
      documentIds: left && ids ? ids.filter((id) => left.has(id)) : (filtered ?? ids),
      standIns: sets.standIns?.(libraries),
    };
  }

  /** The ranking including vectors; undefined without an embedding model, or when it fails: full-text search still works. */
  async #withVectors(
    words: Ranking,
    question: string,
    where: SearchScope,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<Ranking | undefined> {
    const active = this.#options.models.embedder;
    if (!active || question.trim() === '') return undefined;
    try {
      const query = await active.embedder.embed([asQuestion(active.rules, question)], signal);
      const vectors = this.#options.vectors.of(active);
      return fuseRankings(words, await vectors.nearest(query, where, limit, signal));
    } catch (error) {
      throwIfAborted(signal);
      this.#options.log.warn('question-not-embedded', { error: String(error) });
      return undefined;
    }
  }

  /** The ranking by the reranker; undefined without one, or when it fails. */
  async #reranked(
    ranking: Ranking,
    question: string,
    signal: AbortSignal | undefined,
  ): Promise<Ranking | undefined> {
    const active = this.#options.models.reranker;
    if (!active || question.trim() === '') return undefined;
    try {
      const textsOf = (ids: readonly number[]) => this.#options.searches.run('texts', [ids], signal);
      return await this.#reranking.apply(ranking, question, { active, textsOf, signal });
    } catch (error) {
      throwIfAborted(signal);
      this.#options.log.warn('passages-not-reranked', { error: String(error) });
      return undefined;
    }
  }

  #hit(chunk: FoundChunk): SearchHit | undefined {
    const { catalogue } = this.#options;
    const row = catalogue.chunkTable.get(chunk.chunkId);
    if (!row) return undefined;
    const { path, title, start, end, text, tokens } = row;
    const { ordinal, score, reason, fullText, vector, reranked = null, highlights } = chunk;
    return {
      path,
      title,
      start,
      end,
      text,
      tokens: tokens.length,
      chunkId: String(chunk.chunkId),
      documentId: String(chunk.documentId),
      libraryId: String(row.libraryId),
      page: catalogue.pageLabel(chunk.documentId, start + (highlights[0]?.start ?? 0)),
      ordinal,
      score,
      reason,
      fullText,
      vector,
      reranked,
      highlights,
    };
  }

  /** After a change of the embedding model: embeds everything without vectors, at lower priority than questions. */
  #catchUp(): void {
    this.#round?.abort();
    const round = (this.#round = new AbortController());
    const signal = AbortSignal.any([round.signal, this.#closing.signal]);
    this.#catchingUp = this.#catchingUp
      .then(async () => {
        const sets = this.#options.sets.chunkSets([]);
        const active = this.#options.models.embedder;
        if (!active || sets.length === 0 || signal.aborted) return;
        const index = this.#options.vectors.of(active);
        await index.load(signal); // before the first question
        for (const set of sets) await this.#embedSet(set, signal);
        await index.keepOnlyThis(signal);
        await index.load(signal);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn('embedding-stopped', { error: String(error) });
      });
  }

  async #embedSet(chunkSetId: number, signal: AbortSignal): Promise<void> {
    for (let after: number | undefined = 0; after !== undefined;) {
      const from: number = after;
      const made = await this.#options.gate.background(
        (each) => this.#embedSome({ chunkSetId }, from, each),
        signal,
      );
      after = made?.last;
    }
  }

  /**
   * Embeds the next few chunks after `after` that have no vectors; undefined when there are no more. Calls are serialised, so that nothing
   * is embedded twice. ABORTED.
   */
  #embedSome(
    of: { chunkSetId: number; documentId?: number },
    after: number,
    signal: AbortSignal,
  ): Promise<{ last: number; tokens: number } | undefined> {
    return this.#embedding.run(async () => {
      for (;;) {
        throwIfAborted(signal);
        const active = this.#options.models.embedder;
        if (!active) return undefined;
        const vectors = this.#options.vectors.of(active);
        const missing = vectors.missing(of, after, BATCH);
        if (missing.length === 0) return undefined;
        try {
          const texts = missing.map((chunk) => asPassage(active.rules, chunk));
          const chunkIds = missing.map(({ chunkId }) => chunkId);
          vectors.put(chunkIds, await active.embedder.embed(texts, signal));
          return {
            last: Math.max(...chunkIds),
            tokens: missing.reduce((sum, { tokens }) => sum + tokens, 0),
          };
        } catch (error) {
          // Another model replaced it meanwhile: continue with that one.
          if (this.#options.models.embedder === active || signal.aborted) throw error;
        }
      }
    });
  }
}
