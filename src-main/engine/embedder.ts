import { guarded, withAbort } from './call.ts';
import type { NativeAddon, NativeEmbedder, NativeEmbedderInfo } from './native.ts';

/** A loaded embedding model or reranker. Its calls run one after another, in parallel with those of other models. */
export class Embedder {
  readonly info: NativeEmbedderInfo;
  readonly #addon: NativeAddon;
  readonly #native: NativeEmbedder;

  constructor(addon: NativeAddon, native: NativeEmbedder) {
    this.#addon = addon;
    this.#native = native;
    this.info = native.info;
  }

  /**
   * Returns one unit vector per text: [texts][info.dimension]; all zeros for a text without tokens. A text longer than
   * info.contextTokens is truncated. ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array> {
    return withAbort(this.#addon, signal, (abort) => this.#native.embed([...texts], abort));
  }

  /**
   * Of a reranker: how likely each text answers the query, 0 to 1. A text that does not fit with the query is truncated. ABORTED,
   * OUT_OF_MEMORY, ENGINE_FAILED.
   */
  rank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array> {
    return withAbort(this.#addon, signal, (abort) => this.#native.rank(query, [...texts], abort));
  }

  /** Tokens of a text, including special ones, whether it fits or not. */
  tokenize(text: string): Int32Array {
    return guarded(() => this.#native.tokenize(text));
  }

  countTokens(text: string): number {
    return this.tokenize(text).length;
  }

  dispose(): void {
    this.#native.dispose();
  }
}
