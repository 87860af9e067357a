import { guarded, guardedAsync, withAbort, type CallOptions } from './call.ts';
import type { ChunkKv } from './chunk-kv.ts';
import type {
  NativeAddon,
  NativeAppendReport,
  NativeGenerateResult,
  NativeLoading,
  NativeSampled,
  NativeSampling,
  NativeSegment,
  NativeSession,
  NativeSessionDeviation,
  NativeGiven,
  NativeStrategy,
  NativeTokenRange,
} from './native.ts';

/** A prompt piece: tokens to compute, or a cached chunk to place, or some of its tokens. */
export type Segment =
  | { kind: 'compute'; tokens: Int32Array; passage?: boolean | undefined }
  | { kind: 'chunk'; chunk: ChunkKv; range?: NativeTokenRange | undefined };

export interface AppendOptions extends CallOptions {
  /** For comparisons; chunk KV in files is otherwise loaded a layer ahead, as fast as it goes. */
  loading?: Partial<NativeLoading> | undefined;
  /** How many tokens at the end, all of them behind the last chunk, have their attention kept for `deviationFrom`. Default: 0. */
  observe?: number | undefined;
  /** Among appends at once those of the lowest number go first: 0 for what a person waits for (default), 1 for programs and jobs, 2 for what can wait. */
  priority?: number | undefined;
}

export interface GenerateOptions {
  maxTokens: number;
  sampling?: Partial<NativeSampling>;
  signal?: AbortSignal | undefined;
  /** `chances` where the sampling asks for them. */
  onToken?: ((token: number, chances?: NativeSampled) => void) | undefined;
}

export const GREEDY: NativeSampling = {
  temperature: 0,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  seed: 0,
};

/** The resident KV of one conversation. */
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

  /** CONTEXT_OVERFLOW, CHUNK_CORRUPT and what a chunk that arrives failed with (with `chunkIndex`: which segment), CHUNK_MISMATCH, ABORTED. */
  append(
    segments: Segment[],
    strategy: NativeStrategy | NativeGiven,
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
    const onSampled = (sampled: number | NativeSampled): void =>
      typeof sampled === 'number' ? onToken?.(sampled) : onToken?.(sampled.token, sampled);
    return withAbort(this.#addon, signal, (abort) =>
      this.#native.generate(maxTokens, { ...GREEDY, ...sampling }, abort, onToken && onSampled),
    );
  }

  truncate(length: number): void {
    guarded(() => this.#native.truncate(length));
  }

  /**
   * Begins an empty session with what is still in memory of the beginning of `tokens`: text that was computed exactly, in whole
   * blocks; at least two tokens are left to compute. Resolves with the tokens it then has.
   */
  adopt(tokens: Int32Array): Promise<number> {
    return guardedAsync(() => this.#native.adopt(tokens));
  }

  /** A session that begins with the first `length` tokens of this one and shares their memory. */
  async fork(length: number): Promise<Session> {
    return new Session(this.#addon, await guardedAsync(() => this.#native.fork(length)));
  }

  /** Takes memory for `tokens` in all, so that none is missing later; truncate() gives back what was not used. OUT_OF_MEMORY. */
  reserve(tokens: number): Promise<void> {
    return guardedAsync(() => this.#native.reserve(tokens));
  }

  /** Has the system give the memory of reserved positions [begin, end) now, rather than when they are first written. */
  warm(begin: number, end: number): Promise<void> {
    return guardedAsync(() => this.#native.warm(begin, end));
  }

  /** How far this session is from another of the same model, over `count` tokens from position `begin` on that both hold. */
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
