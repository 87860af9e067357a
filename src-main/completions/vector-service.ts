import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ActiveEmbedder, EmbedderSource } from '../models/active-model.ts';
import { dot } from '../retrieval/vector-index.ts';
import { requireInUse } from './names.ts';

interface EmbeddingResult {
  vectors: Float32Array[];
  /** Tokens of all texts. */
  tokens: number;
}

export interface RankedText {
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

  /** Of the model's vectors. NOT_FOUND for a model that is not in use. */
  dimension(name: string): number {
    return this.#require(name).info.dimension;
  }

  /** One vector of length 1 per text. NOT_FOUND for a model that is not in use, CONTEXT_OVERFLOW, ABORTED, ENGINE_FAILED. */
  async embed(name: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult> {
    const embedder = this.#require(name);
    const { dimension, contextTokens } = embedder.info;
    let tokens = 0;
    for (const [i, text] of texts.entries()) {
      const count = embedder.countTokens(text);
      if (count > contextTokens) throw tooLong(i, count, contextTokens);
      tokens += count;
    }
    const all = await embedder.embed(texts, signal);
    const vectors = texts.map((_, i) => all.subarray(i * dimension, (i + 1) * dimension));
    return { vectors, tokens };
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
    const { vectors, tokens } = await this.embed(name, [query, ...texts], signal);
    const [asked = new Float32Array(), ...others] = vectors;
    const ranked = others.map((vector, index) => ({ index, score: dot(asked, vector) }));
    return { ranked: ranked.toSorted((a, b) => b.score - a.score), tokens };
  }

  #require(name: string): ActiveEmbedder['embedder'] {
    return this.#inUse(name, this.#models.embedder, 'embedding').embedder;
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
    return requireInUse(name, entry && { ...active, name: entry.name }, entries, role);
  }
}

function tooLong(index: number, tokens: number, contextTokens: number): KvasirError {
  const message = `Text ${index + 1} has ${tokens} tokens, but the embedding model takes ${contextTokens} at most.`;
  return new KvasirError('CONTEXT_OVERFLOW', message, 'Split it into shorter texts.');
}
