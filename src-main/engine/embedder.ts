import { guarded, withAbort } from './call.ts';
import type { NativeAddon, NativeEmbedder, NativeEmbedderInfo } from './native.ts';

/** A loaded embedding model. Its calls run one after another, beside those of other models. */
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
   * One vector of length 1 a text, one after another: [texts][info.dimension]; all zeros for a text without tokens.
   * A text longer than info.contextTokens is cut there. ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array> {
    return withAbort(this.#addon, signal, (abort) => this.#native.embed([...texts], abort));
  }

  /** Tokens of a text, special ones included; beyond info.contextTokens it is cut. */
  countTokens(text: string): number {
    return guarded(() => this.#native.countTokens(text));
  }

  dispose(): void {
    this.#native.dispose();
  }
}
