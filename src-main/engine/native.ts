/**
 * The complete interface of the native addon, typed in one place. `engine.ts` is the only file that touches it;
 * `native.test.ts` checks the addon against this file. The file is long because it types everything that crosses the
 * boundary.
 *
 * Conventions: token ids are Int32Array; times are milliseconds; sizes are bytes; positions count from 0. Native
 * failures are Errors with a `code` (see src-shared/errors.ts). Long calls return promises and never block JavaScript:
 * those of one session run in call order, those of several sessions of a model take turns. KV bytes pass through
 * JavaScript only from a shared cache to the engine.
 */

import type { BlendingObstacle } from '../../src-shared/blending.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';
import type { KvDtype, SessionDtype } from '../../src-shared/kv-dtype.ts';

export type { KvDtype };

export interface NativeDevice {
  name: string;
  description: string;
  kind: 'cpu' | 'gpu' | 'igpu' | 'accel';
  memoryFree: number;
  memoryTotal: number;
}

/** A parsed GGUF header; reading it loads no weights. */
export interface NativeGgufInfo {
  architecture: string;
  name: string;
  /** What the file calls its model: its name, its repository, and its name put together from the header's parts. */
  names: string[];
  /** How an embedding model turns its tokens' vectors into one; '': the file does not say. */
  pooling: '' | NativePooling;
  fileBytes: number;
  parameterCount: number;
  tensorCount: number;
  /** Weight type → number of tensors, e.g. { q4_K: 168, f32: 57 }. */
  tensorTypes: Record<string, number>;
  layers: number;
  /** The first kvLayers layers compute keys and values; the others read those of earlier layers. */
  kvLayers: number;
  embeddingLength: number;
  heads: number;
  kvHeads: number;
  /** Ascending; more than one if layers differ. */
  headDims: number[];
  feedForwardLength: number;
  contextTrain: number;
  vocabSize: number;
  ropeBase: number;
  ropeScaling: string;
  /** Layer → sliding window in tokens, 0: no window. Empty when no layer has a window. */
  windows: number[];
  /** Layers in which queries and keys are not rotated. */
  unrotatedLayers: number;
  /** Experts per layer, and how many of them process a token; 0 if the feed-forward is dense. */
  experts: number;
  expertsUsed: number;
  expertFeedForwardLength: number;
  tokenizerModel: string;
  chatTemplate: string;
  /** Recommended sampling values (`general.sampling.*`), unchecked; missing values are absent. */
  sampling: Partial<Pick<NativeSampling, 'temperature' | 'topK' | 'topP' | 'minP' | 'repeatPenalty'>>;
  /**
   * An embedding model (an encoder such as BERT, or a model whose header names a pooling): load it with loadEmbedder.
   * Such a file may have an unsupportedReason, which refers to chat only.
   */
  embedding: boolean;
  /** A reranker: scores passages for a question; neither a chat model nor an embedding model. Load it with loadEmbedder. */
  reranker: boolean;
  /**
   * The engine that runs it as a chat model: ours, which blends, libllama, which prefills every prompt, or none.
   * Determined from header and tensor list alone.
   */
  engine: EngineName;
  /** Why its passages cannot be blended; empty if they can, or if no engine runs it. */
  obstacle: BlendingObstacle | '';
  /** Empty if an engine can run it, else the reason (one sentence). */
  unsupportedReason: string;
  /** KV values per token in a session, over all layers; then those of a running state, whatever the length. */
  kvValuesPerToken: number;
  stateValues: number;
}

export type EngineName = 'blending' | 'llama' | 'none';

interface NativeModelOptions {
  threads: number;
  /** 'cpu', 'auto' (GPU layers as many as fit, the rest CPU), or a device name from listDevices(). */
  device: string;
  /**
   * Data type of session KV. Default: f16. A model whose heads are not a multiple of 32 keeps f16; see kvDtype of its
   * info.
   */
  kvDtype?: SessionDtype;
  /** File of a LoRA adapter to apply; the model's fingerprint then covers both. Default: none. */
  adapter?: string | undefined;
}

export interface NativeModelInfo extends NativeGgufInfo {
  /** SHA-256 (hex) that identifies weights, hyperparameters and vocabulary, and the adapter if there is one. */
  fingerprint: string;
  /** Value (hex) that exact-prefix files of this model have in place of the encoding prefix's hash in chunk files. */
  prefixRoot: string;
  kvDtype: SessionDtype;
  /** Block size in tokens: sessions allocate KV and share prefixes in blocks. */
  kvBlockTokens: number;
  bosToken: number; // -1 if the model has none
  eosToken: number;
  addBos: boolean;
  /** Text of special tokens, for chat templates. */
  bosText: string;
  eosText: string;
  /** Buffer type → bytes of weights in it, e.g. { CPU_Mapped: …, CPU_REPACK: … }. */
  buffers: Record<string, number>;
  /** Layer → device name. */
  layerDevices: string[];
  threads: number;
  loadMs: number;
}

export type NativeSegment =
  /** Tokens to compute in full: prefix, cache misses, history, question. */
  | { kind: 'compute'; tokens: Int32Array }
  /** A cached chunk, or a range of its tokens, placed where it stands in the list. */
  | { kind: 'chunk'; chunk: NativeChunk; range?: NativeTokenRange | undefined };

/** Tokens begin … begin + count of a chunk: 0 ≤ begin, 1 ≤ count, begin + count ≤ the chunk's tokens. */
export interface NativeTokenRange {
  begin: number;
  count: number;
}

/**
 * Picks the smallest share of reusable tokens whose scores sum to `cover` of the total, clamped to least … most. All in
 * 0 … 1.
 */
export interface NativeAdaptive {
  cover: number;
  least: number;
  most: number;
}

/** A fixed share of the reusable tokens, or an adaptive one. */
type NativeBudget = { ratios: [number] } | { adaptive: NativeAdaptive };

/**
 * Share of the recomputed tokens' mean change, weighted by distance, that is added to stored tokens, 0 … 1. Default: 0.
 */
interface NativeShift {
  shift?: number;
}

export type NativeStrategy =
  | { kind: 'none' }
  | { kind: 'full' }
  /** CacheBlend §5: at checkLayers[i] keep the ratios[i] of reusable tokens whose V (or K, or both) deviates most; ratios fall. */
  | { kind: 'deviation'; checkLayers: number[]; ratios: number[]; of?: NativeDeviationOf }
  | { kind: 'deviation'; checkLayers: [number]; adaptive: NativeAdaptive; of?: NativeDeviationOf }
  /** The tokens that the question's attention weighs most in questionLayers, over the placed cache. */
  | ({ kind: 'query'; questionLayers: number[] } & NativeBudget & NativeShift);

/** For comparisons: the prompt tokens (ascending) to recompute, from the first layer on or from a check layer on. */
export interface NativeGivenTokens extends NativeShift {
  kind: 'given';
  tokens: Int32Array;
  checkLayers?: [number];
}

/** Which tensors are compared, fresh against stored: values, keys, or both. Default: v. */
export type NativeDeviationOf = 'v' | 'k' | 'kv';

export interface NativeProgress {
  /** Rows × layers done and in total: proportional to work, so the remaining time can be estimated. */
  done: number;
  total: number;
}

/** Sum over some tokens of the squared L2 norm of fresh − stored V, K or both (per strategy) over KV heads. */
export interface NativeDeviationStats {
  tokens: number;
  mean: number;
  p95: number;
}

export interface NativeLayerReport {
  layer: number;
  /** Rows computed in this layer. */
  rows: number;
  /** Milliseconds since the call began; 0,0 if nothing was loaded. */
  loadStart: number;
  loadEnd: number;
  /** Bytes of chunk KV loaded for this layer. */
  loadBytes: number;
  placeMs: number;
  computeStart: number;
  computeEnd: number;
  /** Reusable tokens computed in this layer and beyond; null if there are none, or nothing stored was loaded. */
  recomputed: NativeDeviationStats | null;
  /** Reusable tokens that a check in this layer examined and left as stored. */
  stored: NativeDeviationStats | null;
}

export interface NativeCheckReport {
  layer: number;
  /** Tokens selected here as a share of all reusable tokens. */
  ratio: number;
  /** Prompt positions (relative to this append) that were candidates, ascending. */
  candidates: Int32Array;
  /** Squared L2 norm of fresh − stored V, K or both (per strategy) over KV heads, for each candidate. */
  deviation: Float32Array;
  /** Positions kept for recomputation after this check, ascending. */
  selected: Int32Array;
}

export interface NativeQuestionReport {
  layers: Int32Array;
  /** Prompt positions (relative to this append) of the reusable tokens, ascending. */
  candidates: Int32Array;
  /** Attention each of them received: mean over heads, layers and (up to 64 of) the question's tokens. */
  attention: Float32Array;
}

export interface NativeAppendReport {
  /** Tokens appended, and how many of them were in chunks. */
  tokens: number;
  reusableTokens: number;
  /** Reusable tokens computed beyond the last check layer (for 'full' nothing is reusable). */
  recomputedTokens: number;
  /** Tokens run through the model: those appended plus older ones that a libllama session had to recompute. */
  processedTokens: number;
  /** Prompt positions (relative to this append) of the recomputed tokens, ascending. */
  selected: Int32Array;
  /** Bytes read from files; then bytes copied to a device with separate memory, from files or from memory. */
  bytesLoaded: number;
  bytesCrossed: number;
  layers: NativeLayerReport[];
  checks: NativeCheckReport[];
  /** The question's attention; null if the strategy does not use it. */
  question: NativeQuestionReport | null;
  /** From the call to the logits of the last token. */
  totalMs: number;
  stages: {
    /** The question's separate pass, without loading and placing. */
    question: number;
    place: number;
    check: number;
    select: number;
    compute: number;
    loadWait: number;
    head: number;
  };
}

export interface NativeSampling {
  /** 0 = greedy. */
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  /** Over the answer's last 64 tokens; 1: none. */
  repeatPenalty: number;
  seed: number;
  /**
   * Number of most likely alternatives reported with each sampled token; absent: none, and no probability of the token
   * either.
   */
  chances?: number | undefined;
  /** GBNF grammar, starting at its rule `root`, that restricts the output. BAD_ARGUMENT if it cannot be parsed. */
  grammar?: string | undefined;
  /**
   * Whether tokens that probably come next are computed along with the last one: where that is faster as `measured`
   * (default), or always (for tests). The tokens are the same either way. Without effect for libllama's models.
   */
  drafting?: 'off' | 'measured' | 'always' | undefined;
}

/** A token and the natural logarithm of its probability. */
interface NativeChance {
  token: number;
  logprob: number;
}

/** The sampled token with its probability in the unfiltered distribution; then the alternatives, most likely first. */
export interface NativeSampledToken extends NativeChance {
  top: NativeChance[];
}

export interface NativeGenerateResult {
  tokens: Int32Array;
  stop: 'eos' | 'length' | 'aborted' | 'context';
  ms: number;
  /** Tokens computed before they were sampled, and how many of them were then sampled. */
  drafted: number;
  accepted: number;
}

/** A flag native code polls at least once a layer. */
export interface NativeAbort {
  abort(): void;
}

export interface NativeChunk {
  readonly tokens: Int32Array;
  readonly dtype: KvDtype;
  readonly bytes: number;
  /** Whether the KV is in memory (otherwise it is read from the file, layer by layer, when used). */
  readonly inMemory: boolean;
  /** Writes the chunk file and fsyncs it (no rename). DISK_FULL, STORE_READ_ONLY. Resolves with the file's bytes. */
  save(path: string): Promise<number>;
  /**
   * The same chunk in another format, from one in f16: the bytes that encodeChunk() gives. CHUNK_CORRUPT,
   * CHUNK_UNREADABLE.
   */
  converted(dtype: KvDtype): Promise<NativeChunk>;
  /** Reads all layers into memory, verifying checksums. */
  pullIn(): Promise<void>;
  /**
   * For a chunk from receiveChunk(): the next bytes of its file, in order. Each complete layer is verified and released
   * to waiting appends. CHUNK_CORRUPT, which fails the chunk.
   */
  receive(bytes: Uint8Array): void;
  /**
   * The rest will not arrive: waiting appends get this error. Does nothing once all has arrived. dispose() does the
   * same.
   */
  fail(code: ErrorCode, message: string): void;
  dispose(): void;
}

export interface NativeChunkHeader {
  version: number;
  fingerprint: string;
  /** SHA-256 (hex) over the encoding prefix's token ids. */
  prefixHash: string;
  dtype: KvDtype;
  layers: number;
  tokens: Int32Array;
  fileBytes: number;
}

/** How chunk KV is loaded from files. Non-default values (default: pipelined, unthrottled) are for comparisons. */
export interface NativeLoadOptions {
  /** Load a layer only when it is needed, instead of while the previous one computes. */
  serial: boolean;
  /** Throttles loading to this rate, to simulate a slow disk or network; 0: unlimited. */
  bytesPerSecond: number;
}

export interface NativeSession {
  readonly length: number;
  readonly capacity: number;
  /** Appends segments to the session; the logits of the last token are then ready for generate(). */
  append(
    segments: NativeSegment[],
    strategy: NativeStrategy | NativeGivenTokens,
    abort: NativeAbort,
    onProgress?: (p: NativeProgress) => void,
    loading?: NativeLoadOptions,
    /** Number of trailing tokens, all after the last chunk, whose attention is kept for deviationFrom(). Default: 0. */
    observe?: number,
    /**
     * Concurrent appends run in ascending order of priority; from 2 on, after all answers being generated. Default: 0.
     */
    priority?: number,
  ): Promise<NativeAppendReport>;
  /** Logits of the last computed token, [vocab]; for parity and quality tests. */
  logits(): Float32Array;
  /**
   * Samples and decodes until EOS, maxTokens or abort. onToken receives ids in order, or NativeSampledToken if `chances` is
   * set.
   */
  generate(
    maxTokens: number,
    sampling: NativeSampling,
    abort: NativeAbort,
    onToken?: (token: number | NativeSampledToken) => void,
  ): Promise<NativeGenerateResult>;
  /** Drops everything from `length` on and frees memory reserved beyond it. */
  truncate(length: number): void;
  /**
   * Fills an empty session with the blocks still cached for the beginning of `tokens`: whole blocks of exactly computed
   * text; at least two tokens are left to compute. Resolves with the session's token count.
   */
  adopt(tokens: Int32Array): Promise<number>;
  /** A session with the first `length` tokens of this one, sharing their memory. */
  fork(length: number): Promise<NativeSession>;
  /** Allocates memory for `tokens` in total up front. OUT_OF_MEMORY. */
  reserve(tokens: number): Promise<void>;
  /**
   * Touches the memory of reserved positions [begin, end) so that the system commits it now rather than on first write.
   */
  warm(begin: number, end: number): Promise<void>;
  /** The difference between this session and `other`, of the same model, over tokens that both hold. */
  deviationFrom(other: NativeSession, begin: number, count: number): Promise<NativeSessionDeviation>;
  dispose(): void;
}

/** CacheBlend's (§4.2) KV deviation and attention deviation. */
export interface NativeSessionDeviation {
  /** [layers][count]: squared L2 over KV heads of keys (rotated to their positions) and values. */
  k: Float32Array;
  v: Float32Array;
  /**
   * [layers]: L2 norm of the difference of an observed token's attention weights, root mean square over heads and
   * tokens: 0 to √2. null unless the last append of both observed the same number of tokens.
   */
  attention: Float32Array | null;
}

/** Session memory in blocks: each is free, in use, or evictable (cached because its prefix may recur). */
export interface NativeKvUsage {
  blocks: number;
  /** Blocks shared by several sessions count once. */
  used: number;
  evictable: number;
}

/** Stored chunks held in the model's device memory. */
export interface NativeDeviceTier {
  bytes: number;
  /** Current size limit: the budget, or less if memory is short. */
  limitBytes: number;
  /** Total device memory. */
  totalBytes: number;
  chunks: number;
}

export interface NativeModel {
  readonly info: NativeModelInfo;
  /** `behind`: the text continues other text, so the vocabulary's leading space is not added, nor anything special. */
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean, behind?: boolean): Int32Array;
  detokenize(tokens: Int32Array, special: boolean): string;
  /**
   * Encodes consecutive chunks in one pass, each after `prefix` (e.g. BOS), whose KV is dropped, and the chunks before it;
   * keys are stored without RoPE.
   */
  encodeChunks(
    texts: readonly Int32Array[],
    prefix: Int32Array,
    dtype: KvDtype,
    abort: NativeAbort,
    onProgress?: (p: NativeProgress) => void,
    priority?: number,
  ): Promise<NativeChunk[]>;
  /**
   * Opens a chunk file: header checked, KV not read. `patienceMs`: how long the drive may take for a call, then and
   * later; absent: no limit. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH, CHUNK_UNREADABLE.
   */
  openChunk(path: string, patienceMs?: number): Promise<NativeChunk>;
  /**
   * A chunk that can be placed while it arrives: an append waits for each layer. `beginning`: the first bytes of its
   * file of `fileBytes` bytes, header included; pass the rest to NativeChunk.receive(). CHUNK_CORRUPT (also if it does
   * not match the key), CHUNK_VERSION, CHUNK_MISMATCH.
   */
  receiveChunk(key: string, beginning: Uint8Array, fileBytes: number): NativeChunk;
  /** Holds at most `capacity` tokens; memory is allocated as it grows. */
  createSession(capacity: number): NativeSession;
  /** Memory use of all sessions, once earlier calls are done. */
  kvUsage(): Promise<NativeKvUsage>;
  /** Byte limit above which prefixes that no session uses are evicted. Sessions get what they need. Default: 1 GiB. */
  setKvBudget(bytes: number): void;
  /** Whether the stored chunk of this key is in device memory, so that nothing has to be loaded. */
  onDevice(key: string): boolean;
  /** null if all layers are on the host. */
  deviceTier(): NativeDeviceTier | null;
  /** Maximum bytes of stored chunks in device memory; null: half of what sessions and passes leave free. */
  setDeviceBudget(bytes: number | null): void;
  /** The cached blocks of the beginning of `tokens`, to be saved; null if there are none. */
  exportPrefix(tokens: Int32Array): Promise<NativeChunk | null>;
  /** Opens a file that exportPrefix's result was saved to. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  openPrefix(path: string): Promise<NativeChunk>;
  /** Caches its blocks, as if they had been computed. CHUNK_CORRUPT, CHUNK_MISMATCH, OUT_OF_MEMORY. */
  importPrefix(prefix: NativeChunk): Promise<void>;
  dispose(): void;
}

/** llama.cpp's own llama_decode on the same file: the reference for parity tests and benchmarks. */
export interface NativeReference {
  prefill(tokens: Int32Array): Promise<{ ms: number; logits: Float32Array }>;
  /** Greedy decode after the last prefill. */
  decode(count: number): Promise<{ ms: number; tokens: Int32Array }>;
  /** Drops positions from `length` on (prefix caching keeps the rest). */
  truncate(length: number): void;
  /** Removes positions begin … end − 1 and shifts the rest left, as llama-server's cache reuse does (K-shift). */
  cut(begin: number, end: number): Promise<void>;
  dispose(): void;
}

export interface NativeReferenceOptions {
  contextTokens: number;
  threads: number;
  flashAttention: boolean;
  ubatch: number;
  /** See NativeModelOptions. */
  device: string;
  adapter?: string | undefined;
}

/** rank: a reranker. */
type NativePooling = 'mean' | 'cls' | 'last' | 'rank';

export interface NativeEmbedderOptions {
  threads: number;
  device: string;
  /** Used where the file names no pooling. Default: by the architecture. */
  pooling?: Exclude<NativePooling, 'rank'> | undefined;
  /** Text of the token that ends every text, if the vocabulary has it. Default: the file's. */
  end?: string | undefined;
  /** Longest text in tokens, if shorter than the file's. */
  tokens?: number | undefined;
}

export interface NativeEmbedderInfo {
  name: string;
  architecture: string;
  fileBytes: number;
  /** Length of a vector. */
  dimension: number;
  /** Maximum text length in tokens, including special ones; longer texts are truncated. */
  contextTokens: number;
  pooling: NativePooling;
  threads: number;
  loadMs: number;
}

/** An embedding model or a reranker, run by libllama on a separate native thread. */
export interface NativeEmbedder {
  readonly info: NativeEmbedderInfo;
  /**
   * Returns one unit vector per text: [texts][dimension] (all zeros for a text without tokens). A text's vector does
   * not depend on the others. Polls `abort` within each text. ABORTED.
   */
  embed(texts: string[], abort: NativeAbort): Promise<Float32Array>;
  /** Of a reranker: how likely each text answers the query, 0 to 1; a text that does not fit is truncated. ABORTED. */
  rank(query: string, texts: string[], abort: NativeAbort): Promise<Float32Array>;
  /** Tokens of a text, including special ones, whether it fits or not. */
  tokenize(text: string): Int32Array;
  dispose(): void;
}

/** The chunks whose vectors to compare, as ids. */
export interface NativeVectorScope {
  /** Chunk sets. */
  sets: Float64Array;
  /** Pairs of a document and the set that it is searched in instead. */
  standIns: Float64Array;
  /** Absent: all documents. */
  documents?: Float64Array | undefined;
}

/** The candidates of a scan, and what all vectors in scope have in common. */
interface NativeVectorMatches {
  /** Chunk ids, by bound, largest first. */
  chunks: Float64Array;
  /** Of each candidate: its exact dot product is at most this. */
  bounds: Float32Array;
  /** Vectors in scope. */
  count: number;
  /** Of the dot products of all vectors in scope. */
  mean: number;
  deviation: number;
}

/**
 * Vectors in int8, in memory. Calls run in call order on a separate native thread; a scan uses all cores available.
 */
export interface NativeVectorScan {
  /** `places`: chunk, document and set of each vector; `vectors`: [places / 3][dimension]. A known chunk's are replaced. */
  put(places: Float64Array, vectors: Float32Array): Promise<void>;
  remove(chunks: Float64Array): Promise<void>;
  /** The `most` vectors that may be nearest to `query`: [dimension]. */
  nearest(query: Float32Array, scope: NativeVectorScope, most: number): Promise<NativeVectorMatches>;
  dispose(): void;
}

export interface NativeAddon {
  /** Loads ggml's backends from a folder (no packs) and silences its log. Call once, first. */
  init(librariesDir: string): void;
  /** Loads a GPU backend library, whose devices are then listed too. */
  loadPack(path: string): void;
  /** Ends all work for good; blocks for a few seconds at most. For the exit of the process, and synchronous. */
  rest(): void;
  version(): { ggml: string; addon: string };
  listDevices(): NativeDevice[];
  readGguf(path: string): NativeGgufInfo;
  /** The same on a separate thread. */
  readGgufAside(path: string): Promise<NativeGgufInfo>;
  /** Fingerprint of a file's weights, equal to that of a model loaded from it. */
  fingerprintGguf(path: string): Promise<string>;
  /** Checks a LoRA adapter against the model file it is for. ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED. */
  checkAdapter(path: string, model: string): void;
  loadModel(
    path: string,
    options: NativeModelOptions,
    onProgress?: (fraction: number) => void,
  ): Promise<NativeModel>;
  /**
   * Loads a model to be run by libllama. It implements NativeModel, but its sessions only accept segments to compute;
   * chunk functions throw a TypeError.
   */
  loadLlamaModel(
    path: string,
    options: NativeModelOptions,
    onProgress?: (fraction: number) => void,
  ): Promise<NativeModel>;
  /** Rejects with CHUNK_CORRUPT, CHUNK_VERSION or CHUNK_UNREADABLE. */
  readChunkHeader(path: string): Promise<NativeChunkHeader>;
  /** Reads the whole file and checks every checksum; rejects with CHUNK_CORRUPT or CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void>;
  /** Ends threads without work, and gives freed memory back to the system. */
  releaseMemory(): Promise<void>;
  createAbort(): NativeAbort;
  loadReference(path: string, options: NativeReferenceOptions): Promise<NativeReference>;
  /** MODEL_INVALID, MODEL_UNSUPPORTED (a reranker whose prompt is unknown, an architecture libllama does not know …), OUT_OF_MEMORY. */
  loadEmbedder(path: string, options: NativeEmbedderOptions): Promise<NativeEmbedder>;
  /** `dimension`: 1 to 16,384. */
  createVectorScan(dimension: number): NativeVectorScan;
}
