import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KvasirError, isErrorCode } from '../../src-shared/errors.ts';
import { nativeRoot } from '../platform/root.ts';
import type {
  KvDtype,
  NativeAbort,
  NativeAddon,
  NativeAppendReport,
  NativeChunk,
  NativeChunkHeader,
  NativeDevice,
  NativeEmbedder,
  NativeEmbedderInfo,
  NativeGenerateResult,
  NativeGgufInfo,
  NativeKvUsage,
  NativeLoading,
  NativeModel,
  NativeModelInfo,
  NativeProgress,
  NativeReference,
  NativeReferenceOptions,
  NativeSampling,
  NativeSegment,
  NativeSession,
  NativeSessionDeviation,
  NativeStrategy,
  NativeTokenRange,
} from './native.ts';

export type {
  KvDtype,
  NativeAppendReport as AppendReport,
  NativeCheckReport as CheckReport,
  NativeChunkHeader as ChunkHeader,
  NativeDevice as Device,
  NativeDeviationStats as DeviationStats,
  NativeEmbedderInfo as EmbedderInfo,
  NativeGenerateResult as GenerateResult,
  NativeGgufInfo as GgufInfo,
  NativeKvUsage as KvUsage,
  NativeLayerReport as LayerReport,
  NativeLoading as Loading,
  NativeModelInfo as ModelInfo,
  NativeProgress as Progress,
  NativeAdaptive as Adaptive,
  NativeDeviationOf as DeviationOf,
  NativeQuestionReport as QuestionReport,
  NativeReference as Reference,
  NativeSampling as Sampling,
  NativeSessionDeviation as SessionDeviation,
  NativeStrategy as Strategy,
  NativeTokenRange as TokenRange,
} from './native.ts';

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: NativeProgress) => void) | undefined;
}

export interface AppendOptions extends CallOptions {
  /** For comparisons; chunk KV in files is otherwise loaded a layer ahead, as fast as it goes. */
  loading?: Partial<NativeLoading> | undefined;
  /** How many tokens at the end, all of them behind the last chunk, have their attention kept for `deviationFrom`. Default: 0. */
  observe?: number | undefined;
}

export interface GenerateOptions {
  maxTokens: number;
  sampling?: Partial<NativeSampling>;
  signal?: AbortSignal | undefined;
  onToken?: ((token: number) => void) | undefined;
}

export interface LoadOptions {
  /** Default: one per physical core, as llama.cpp does. */
  threads?: number;
  /** 'auto', 'cpu' or a name from devices(). */
  device?: string;
  /** How the KV of sessions is kept; `info.kvDtype` says whether the model can. Default: f16. */
  kvDtype?: KvDtype;
  onProgress?: (fraction: number) => void;
}

export const GREEDY: NativeSampling = {
  temperature: 0,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  seed: 0,
};

/** A prompt piece: tokens to compute, or a cached chunk to place, or some of its tokens. */
export type Segment =
  | { kind: 'compute'; tokens: Int32Array }
  | { kind: 'chunk'; chunk: ChunkKv; range?: NativeTokenRange | undefined };

/** The engine's process-wide entry: devices, GGUF headers, models, chunk files. */
export class Engine {
  readonly #addon: NativeAddon;

  private constructor(addon: NativeAddon) {
    this.#addon = addon;
  }

  /** Loads the addon and ggml's libraries. ENGINE_FAILED when they are not where setup puts them. */
  static open(root = nativeRoot()): Engine {
    const path = join(root, 'build', 'native', 'kvasir.node');
    if (!existsSync(path)) {
      throw new KvasirError(
        'ENGINE_FAILED',
        `The native engine is not built (${path} is missing).`,
        'Run `npm run setup`.',
      );
    }
    const addon = createRequire(import.meta.url)(path) as NativeAddon;
    guarded(() => addon.init(join(root, 'build', 'ggml')));
    return new Engine(addon);
  }

  version(): { ggml: string; addon: string } {
    return this.#addon.version();
  }

  devices(): NativeDevice[] {
    return guarded(() => this.#addon.listDevices());
  }

  /** Reads a GGUF header. MODEL_NOT_FOUND, MODEL_INVALID. */
  inspect(path: string): NativeGgufInfo {
    requireModelFile(path);
    return guarded(() => this.#addon.readGguf(path));
  }

  /** MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY. */
  async loadModel(path: string, options: LoadOptions = {}): Promise<Model> {
    requireModelFile(path);
    const native = await guardedAsync(() =>
      this.#addon.loadModel(
        path,
        {
          threads: options.threads ?? 0,
          device: options.device ?? 'auto',
          kvDtype: options.kvDtype ?? 'f16',
        },
        options.onProgress,
      ),
    );
    return new Model(this.#addon, native, path);
  }

  /** Loads an embedding model. MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY. */
  async loadEmbedder(path: string, options: Pick<LoadOptions, 'threads' | 'device'> = {}): Promise<Embedder> {
    requireModelFile(path);
    const native = await guardedAsync(() =>
      this.#addon.loadEmbedder(path, { threads: options.threads ?? 0, device: options.device ?? 'auto' }),
    );
    return new Embedder(this.#addon, native);
  }

  /** Reads a chunk file's header. CHUNK_CORRUPT, CHUNK_VERSION. */
  readChunkHeader(path: string): NativeChunkHeader {
    return guarded(() => this.#addon.readChunkHeader(path));
  }

  /** Reads a chunk file whole and checks every checksum. CHUNK_CORRUPT, CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void> {
    return guardedAsync(() => this.#addon.verifyChunk(path));
  }

  /** llama.cpp's own inference on the same file, for parity and benches. */
  loadReference(path: string, options: NativeReferenceOptions): Promise<NativeReference> {
    requireModelFile(path);
    return guardedAsync(() => this.#addon.loadReference(path, options));
  }
}

/** A loaded model. Its calls run one after another; dispose() frees weights and every session and chunk in memory. */
export class Model {
  readonly info: NativeModelInfo;
  readonly path: string;
  readonly #addon: NativeAddon;
  readonly #native: NativeModel;

  constructor(addon: NativeAddon, native: NativeModel, path: string) {
    this.#addon = addon;
    this.#native = native;
    this.info = native.info;
    this.path = path;
  }

  /** Token ids of `text`. `special` lets text like <|im_start|> become its control token: only for trusted templates. */
  tokenize(text: string, { addBos = false, special = false } = {}): Int32Array {
    return guarded(() => this.#native.tokenize(text, addBos, special));
  }

  detokenize(tokens: Int32Array | readonly number[], { special = false } = {}): string {
    const ids = tokens instanceof Int32Array ? tokens : Int32Array.from(tokens);
    return guarded(() => this.#native.detokenize(ids, special));
  }

  /** What a chunk is encoded behind: BOS where the model has one. Its own KV is dropped. */
  get encodingPrefix(): Int32Array {
    return this.info.bosToken >= 0 && this.info.addBos
      ? Int32Array.of(this.info.bosToken)
      : new Int32Array(0);
  }

  /** Bytes of KV per token in the store. */
  bytesPerToken(dtype: KvDtype): number {
    const values = 2 * this.info.layers * this.info.kvHeads * this.info.headDim;
    return dtype === 'f16' ? values * 2 : (values / 32) * 34;
  }

  async encodeChunk(tokens: Int32Array, dtype: KvDtype, options: CallOptions = {}): Promise<ChunkKv> {
    const chunk = await withAbort(this.#addon, options.signal, (abort) =>
      this.#native.encodeChunk(tokens, this.encodingPrefix, dtype, abort, options.onProgress),
    );
    return new ChunkKv(chunk);
  }

  /** Opens a chunk file without reading its KV. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  async openChunk(path: string): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.#native.openChunk(path, this.encodingPrefix)));
  }

  /** At most `capacity` tokens; memory is taken as it grows. */
  createSession(capacity: number): Session {
    return new Session(
      this.#addon,
      guarded(() => this.#native.createSession(capacity)),
    );
  }

  /** The memory of all sessions, when what was called before is done. */
  kvUsage(): Promise<NativeKvUsage> {
    return guardedAsync(() => this.#native.kvUsage());
  }

  /** Bytes beyond which prefixes that no session holds are given up; sessions get what they need. */
  setKvBudget(bytes: number): void {
    guarded(() => this.#native.setKvBudget(bytes));
  }

  /** What is known of the beginning of `tokens`, for the store; undefined when nothing is. */
  async exportPrefix(tokens: Int32Array): Promise<ChunkKv | undefined> {
    const prefix = await guardedAsync(() => this.#native.exportPrefix(tokens));
    return prefix ? new ChunkKv(prefix) : undefined;
  }

  /** Opens a stored prefix. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  async openPrefix(path: string): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.#native.openPrefix(path)));
  }

  /** Makes a stored prefix known, as if it had been computed. CHUNK_CORRUPT, CHUNK_MISMATCH, OUT_OF_MEMORY. */
  importPrefix(prefix: ChunkKv): Promise<void> {
    return guardedAsync(() => this.#native.importPrefix(prefix.native));
  }

  dispose(): void {
    this.#native.dispose();
  }
}

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

  dispose(): void {
    this.#native.dispose();
  }
}

/** One chunk's KV, in memory or in a file. */
export class ChunkKv {
  readonly native: NativeChunk;

  constructor(native: NativeChunk) {
    this.native = native;
  }

  get tokens(): Int32Array {
    return this.native.tokens;
  }
  get dtype(): KvDtype {
    return this.native.dtype;
  }
  get bytes(): number {
    return this.native.bytes;
  }
  get inMemory(): boolean {
    return this.native.inMemory;
  }
  save(path: string): Promise<number> {
    return guardedAsync(() => this.native.save(path));
  }
  pullIn(): Promise<void> {
    return guardedAsync(() => this.native.pullIn());
  }
  dispose(): void {
    this.native.dispose();
  }
}

/** The resident KV of one conversation. */
export class Session {
  readonly #addon: NativeAddon;
  readonly #native: NativeSession;

  constructor(addon: NativeAddon, native: NativeSession) {
    this.#addon = addon;
    this.#native = native;
  }

  get length(): number {
    return this.#native.length;
  }
  get capacity(): number {
    return this.#native.capacity;
  }

  /** CONTEXT_OVERFLOW, CHUNK_CORRUPT (with `chunkIndex`: which segment), CHUNK_MISMATCH, ABORTED. */
  append(
    segments: Segment[],
    strategy: NativeStrategy,
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
      ),
    );
  }

  logits(): Float32Array {
    return guarded(() => this.#native.logits());
  }

  generate(options: GenerateOptions): Promise<NativeGenerateResult> {
    return withAbort(this.#addon, options.signal, (abort) =>
      this.#native.generate(options.maxTokens, { ...GREEDY, ...options.sampling }, abort, options.onToken),
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

  dispose(): void {
    this.#native.dispose();
  }
}

/** An error that names the chunk segment it happened in. */
export interface ChunkError extends KvasirError {
  chunkIndex?: number;
}

function requireModelFile(path: string): void {
  if (!existsSync(path)) {
    throw new KvasirError(
      'MODEL_NOT_FOUND',
      `There is no model file at ${path}.`,
      'Check the path, or import a GGUF file.',
    );
  }
}

/** Native errors carry code and message; give them the type the rest of the app knows. */
function toKvasirError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KvasirError) return error;
  const { code, advice, chunkIndex } = error as Error & {
    code?: unknown;
    advice?: unknown;
    chunkIndex?: unknown;
  };
  if (!isErrorCode(code)) return error;
  const typed: ChunkError = new KvasirError(code, error.message, typeof advice === 'string' ? advice : '', {
    cause: error,
  });
  if (typeof chunkIndex === 'number') typed.chunkIndex = chunkIndex;
  return typed;
}

function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toKvasirError(error);
  }
}

async function guardedAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toKvasirError(error);
  }
}

async function withAbort<T>(
  addon: NativeAddon,
  signal: AbortSignal | undefined,
  call: (abort: NativeAbort) => Promise<T>,
): Promise<T> {
  const abort = addon.createAbort();
  const onAbort = (): void => abort.abort();
  if (signal?.aborted) abort.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await guardedAsync(() => call(abort));
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
