import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ActiveEmbedder, EmbedderSource } from '../models/active-model.ts';
import type { EmbeddingRules } from '../models/embedding/families.ts';
import { allowsSize, asPassage, asQuestion, cutVector, sizesOf } from '../models/embedding/rules.ts';
import { dot } from '../retrieval/exact-hits.ts';
import { requireInUse } from './names.ts';

interface EmbeddingResult {
  vectors: Float32Array[];
  /** Tokens of all texts, as far as they were embedded. */
  tokens: number;
  /** Indexes of the texts that were cut. */
  truncated: number[];
}

interface EmbeddingOptions {
  /** What the texts are: the model's prefix is put before them. Absent: they are embedded as they are. */
  role?: 'question' | 'passage' | undefined;
  /** Cuts texts that are too long, instead of failing. */
  truncate?: boolean;
  /** Length of the vectors, one that whyNotDimensions() allows. Default: the model's. */
  dimensions?: number | null | undefined;
}

interface RankedText {
  /** Index among the given texts. */
  index: number;
  /** By a reranker: how likely the text answers the query, 0 to 1. Else the cosine of the angle between their vectors. */
  score: number;
}

type SearchModels = Pick<EmbedderSource, 'embedder' | 'reranker'>;

/** Embeds and ranks texts with the embedding model and the reranker in use, for other programs. */
export class VectorService {
  readonly #models: SearchModels;
  readonly #listed: () => Pick<ModelEntry, 'id' | 'name' | 'role' | 'active'>[];

  /** `listed`: all models. */
  constructor(models: SearchModels, listed: () => Pick<ModelEntry, 'id' | 'name' | 'role' | 'active'>[]) {
    this.#models = models;
    this.#listed = listed;
  }

  /** Why a model's vectors cannot have this many dimensions; undefined if they can. NOT_FOUND for a model that is not in use. */
  whyNotDimensions(name: string, dimensions: number): string | undefined {
    const { embedder, rules } = this.#require(name);
    const { dimension } = embedder.info;
    if (allowsSize(rules, dimensions, dimension)) return undefined;
    const sizes = sizesOf(rules, dimension);
    return sizes === ''
      ? `The vectors of this model have ${dimension} dimensions and cannot be shortened. Leave it out.`
      : `The vectors of this model can have these numbers of dimensions: ${sizes}.`;
  }

  /**
   * One vector of length 1 per text. NOT_FOUND for a model that is not in use, CONTEXT_OVERFLOW, ABORTED, ENGINE_FAILED.
   */
  async embed(
    name: string,
    given: readonly string[],
    signal: AbortSignal,
    options: EmbeddingOptions = {},
  ): Promise<EmbeddingResult> {
    const { embedder, rules } = this.#require(name);
    const { role, truncate = false, dimensions } = options;
    const texts = given.map((text) => withPrefix(rules, role, text));
    const counts = texts.map((text) => embedder.countTokens(text));
    const vectors = await this.#vectorsOf(embedder, { texts, counts, truncate }, signal);
    const { contextTokens } = embedder.info;
    return {
      vectors: vectors.map((vector) => cutVector(vector, dimensions ?? vector.length, rules)),
      tokens: counts.reduce((sum, count) => sum + Math.min(count, contextTokens), 0),
      truncated: [...counts.keys()].filter((i) => (counts[i] ?? 0) > contextTokens),
    };
  }

  async #vectorsOf(
    embedder: ActiveEmbedder['embedder'],
    { texts, counts, truncate }: { texts: readonly string[]; counts: readonly number[]; truncate: boolean },
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const { dimension, contextTokens } = embedder.info;
    const long = counts.findIndex((count) => count > contextTokens);
    if (long >= 0 && !truncate) throw tooLong(long, counts[long] ?? 0, contextTokens);
    const all = await embedder.embed(texts, signal);
    return texts.map((_, i) => all.subarray(i * dimension, (i + 1) * dimension));
  }

  /** Texts by how well they answer a query, the best first: with the reranker, or by the vectors of the embedding model. Errors as embed(). */
  async rank(
    name: string,
    { query, texts }: { query: string; texts: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ ranked: RankedText[]; tokens: number }> {
    if (this.#isEmbedder(name)) return this.#byVectors(name, { query, texts }, signal);
    const { reranker } = this.#inUse(name, this.#models.reranker, 'reranker');
    const scores = await reranker.rank(query, texts, signal);
    const ranked = [...scores].map((score, index) => ({ index, score }));
    const tokens = texts.reduce(
      (sum, text) => sum + reranker.countTokens(text),
      texts.length * reranker.countTokens(query),
    );
    return { ranked: ranked.toSorted((a, b) => b.score - a.score), tokens };
  }

  async #byVectors(
    name: string,
    { query, texts }: { query: string; texts: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ ranked: RankedText[]; tokens: number }> {
    const question = await this.embed(name, [query], signal, { role: 'question' });
    const passages = await this.embed(name, texts, signal, { role: 'passage' });
    const [asked = new Float32Array()] = question.vectors;
    const ranked = passages.vectors.map((vector, index) => ({ index, score: dot(asked, vector) }));
    const tokens = question.tokens + passages.tokens;
    return { ranked: ranked.toSorted((a, b) => b.score - a.score), tokens };
  }

  #require(name: string): ActiveEmbedder {
    return this.#inUse(name, this.#models.embedder, 'embedding');
  }

  #isEmbedder(name: string): boolean {
    const { embedder } = this.#models;
    return (
      embedder !== undefined &&
      this.#listed().some((entry) => entry.id === embedder.id && entry.name === name)
    );
  }

  #inUse<M extends { id: string }>(name: string, active: M | undefined, role: ModelEntry['role']): M {
    const entries = this.#listed();
    const entry = active && entries.find(({ id }) => id === active.id);
    return requireInUse(name, entry && { ...active, name: entry.name }, () => entries, role);
  }
}

function withPrefix(rules: EmbeddingRules, role: EmbeddingOptions['role'], text: string): string {
  if (role === undefined) return text;
  return role === 'question' ? asQuestion(rules, text) : asPassage(rules, { title: '', text });
}

function tooLong(index: number, tokens: number, contextTokens: number): KvasirError {
  const message = `Text ${index + 1} has ${tokens} tokens, but the embedding model takes ${contextTokens} at most.`;
  return new KvasirError('CONTEXT_OVERFLOW', message, 'Split it into shorter texts.');
}
