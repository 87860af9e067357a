import { guarded, guardedAsync, withAbort, type CallOptions } from './call.ts';
import type { ChunkKv } from './chunk-kv.ts';
import type {
  NativeAddon,
  NativeAppendReport,
  NativeGenerateResult,
  NativeLoadOptions,
  NativeSampledToken,
  NativeSampling,
  NativeSegment,
  NativeSession,
  NativeSessionDeviation,
  NativeGivenTokens,
  NativeStrategy,
  NativeTokenRange,
} from './native.ts';

/** A prompt segment: tokens to compute, a cached chunk to place, or part of its tokens. */
export type Segment =
  | { kind: 'compute'; tokens: Int32Array }
  | { kind: 'chunk'; chunk: ChunkKv; range?: NativeTokenRange | undefined };

export interface AppendOptions extends CallOptions {
  /** For comparisons; by default chunk KV is read from files one layer ahead, at full speed. */
  loading?: Partial<NativeLoadOptions> | undefined;
  /** Number of trailing tokens, all after the last chunk, whose attention is kept for `deviationFrom`. Default: 0. */
  observe?: number | undefined;
  /**
   * Concurrent appends run in ascending order: 0 for requests a person waits for (default), 1 for programs and jobs, 2
   * for background work.
   */
  priority?: number | undefined;
}

export interface GenerateOptions {
  maxTokens: number;
  sampling?: Partial<NativeSampling>;
  signal?: AbortSignal | undefined;
  /** `chances` if the sampling requests them. */
  onToken?: ((token: number, chances?: NativeSampledToken) => void) | undefined;
}

export const GREEDY: NativeSampling = {
  temperature: 0,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  seed: 0,
};

/** The KV cache of one conversation, in memory. */
export class Session {
  readonly #addon: Pick<NativeAddon, 'createAbort'>;
  readonly #native: NativeSession;
  #disposed = false;

  constructor(addon: Pick<NativeAddon, 'createAbort'>, native: NativeSession) {
    this.#addon = addon;
    this.#native = native;
  }

  get length(): number {
    return this.#native.length;
  }
  get capacity(): number {
    return this.#native.capacity;
  }

  /**
   * CONTEXT_OVERFLOW, CHUNK_CORRUPT and any error of an arriving chunk (with `chunkIndex`: the segment),
   * CHUNK_MISMATCH, ABORTED.
   */
  append(
    segments: Segment[],
    strategy: NativeStrategy | NativeGivenTokens,
    options: AppendOptions = {},
  ): Promise<NativeAppendReport> {
    const natives: NativeSegment[] = segments.map((segment) =>
      segment.kind === 'chunk' ? { ...segment, chunk: segment.chunk.native } : segment,
    );
    return withAbort(this.#addon, options.signal, (abort) =>
      this.#native.append(
        natives,
        strategy,
        abort,
        options.onProgress,
        { serial: false, bytesPerSecond: 0, ...options.loading },
        options.observe,
        options.priority,
      ),
    );
  }

  logits(): Float32Array {
    return guarded(() => this.#native.logits());
  }

  generate(options: GenerateOptions): Promise<NativeGenerateResult> {
    const { maxTokens, signal, sampling, onToken } = options;
    const onSampled = (sampled: number | NativeSampledToken): void =>
      typeof sampled === 'number' ? onToken?.(sampled) : onToken?.(sampled.token, sampled);
    return withAbort(this.#addon, signal, (abort) =>
      this.#native.generate(maxTokens, { ...GREEDY, ...sampling }, abort, onToken && onSampled),
    );
  }

  truncate(length: number): void {
    guarded(() => this.#native.truncate(length));
  }

  /**
   * Fills an empty session with the blocks still cached for the beginning of `tokens`: exactly computed text, in whole
   * blocks; at least two tokens are left to compute. Resolves with the session's token count.
   */
  adopt(tokens: Int32Array): Promise<number> {
    return guardedAsync(() => this.#native.adopt(tokens));
  }

  /** A session with the first `length` tokens of this one, sharing their memory. */
  async fork(length: number): Promise<Session> {
    return new Session(this.#addon, await guardedAsync(() => this.#native.fork(length)));
  }

  /** Allocates memory for `tokens` in total up front; truncate() frees the unused part. OUT_OF_MEMORY. */
  reserve(tokens: number): Promise<void> {
    return guardedAsync(() => this.#native.reserve(tokens));
  }

  /**
   * Touches the memory of reserved positions [begin, end) so that the system commits it now rather than on first write.
   */
  warm(begin: number, end: number): Promise<void> {
    return guardedAsync(() => this.#native.warm(begin, end));
  }

  /**
   * The difference between this session and another of the same model, over `count` tokens from position `begin` on
   * that both hold.
   */
  deviationFrom(other: Session, begin: number, count: number): Promise<NativeSessionDeviation> {
    return guardedAsync(() => this.#native.deviationFrom(other.#native, begin, count));
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  dispose(): void {
    this.#disposed = true;
    this.#native.dispose();
  }
}
