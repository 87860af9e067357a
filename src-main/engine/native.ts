/**
 * The whole surface of the native addon, typed in one place. `engine.ts` is the only file that touches it;
 * `native.test.ts` loads the addon and holds it against this file. Long, since it is types for all that crosses.
 *
 * Conventions: token ids are Int32Array; times are milliseconds; sizes are bytes; positions count from 0.
 * Native failures are Errors with a `code` (see src-shared/errors.ts). Long calls return promises, run on the model's
 * own native thread one after another in call order, and never block JavaScript. KV bytes enter JavaScript only on their way
 * from a shared cache to the engine.
 */

import type { BlendingObstacle } from '../../src-shared/blending.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';

export type KvDtype = 'f16' | 'q8_0';

export interface NativeDevice {
  name: string;
  description: string;
  kind: 'cpu' | 'gpu' | 'igpu' | 'accel';
  memoryFree: number;
  memoryTotal: number;
}

/** What a GGUF header says; reading it loads no weights. */
export interface NativeGgufInfo {
  architecture: string;
  name: string;
  fileBytes: number;
  parameterCount: number;
  tensorCount: number;
  /** Weight type → number of tensors, e.g. { q4_K: 168, f32: 57 }. */
  tensorTypes: Record<string, number>;
  layers: number;
  /** The first so many layers have keys and values of their own; the others read those of earlier ones. */
  kvLayers: number;
  embeddingLength: number;
  heads: number;
  kvHeads: number;
  /** Ascending: more than one where layers differ. */
  headDims: number[];
  feedForwardLength: number;
  contextTrain: number;
  vocabSize: number;
  ropeBase: number;
  ropeScaling: string;
  /** Layer → the last so many tokens that a token sees there, 0: all before it. Empty when no layer has a window. */
  windows: number[];
  /** Layers in which queries and keys are not rotated. */
  unrotatedLayers: number;
  /** Of each layer, and how many of them a token goes through; 0 when the feed-forward is dense. */
  experts: number;
  expertsUsed: number;
  expertFeedForwardLength: number;
  tokenizerModel: string;
  chatTemplate: string;
  /** What the header recommends to sample by (`general.sampling.*`), unchecked; what it does not say is absent. */
  sampling: Partial<Pick<NativeSampling, 'temperature' | 'topK' | 'topP' | 'minP' | 'repeatPenalty'>>;
  /**
   * Made to turn text into vectors (an encoder such as BERT, or a model whose header names a pooling): load it with
   * loadEmbedder. Such a file may have an unsupportedReason, which speaks of chat only.
   */
  embedding: boolean;
  /** Made to rank passages for a question: neither a chat model nor one for vectors. */
  reranker: boolean;
  /**
   * Which engine runs it as a chat model: ours, which blends, libllama, which computes every prompt, or none. Said by header and
   * list of tensors alone. 'remote' is no file, but a model on a server (remote/).
   */
  engine: EngineName;
  /** Why its passages cannot be blended; empty where they can, or where no engine runs it. */
  obstacle: BlendingObstacle | '';
  /** Empty when an engine can run it, else why none can (one sentence). */
  unsupportedReason: string;
  /** Values of keys and values that a token takes in a session, over all layers; and of a running state, whatever the length. */
  kvValuesPerToken: number;
  stateValues: number;
}

export type EngineName = 'blending' | 'llama' | 'remote' | 'none';

interface NativeModelOptions {
  threads: number;
  /** 'cpu', 'auto' (GPU layers as many as fit, the rest CPU), or a device name from listDevices(). */
  device: string;
  /**
   * How the KV of sessions is kept. Default: f16. A model whose heads are not a multiple of 32 keeps f16; kvDtype of its
   * info tells.
   */
  kvDtype?: KvDtype;
  /** File of a LoRA adapter that changes the model; the model's fingerprint is then of both. Default: none. */
  adapter?: string | undefined;
}

export interface NativeModelInfo extends NativeGgufInfo {
  /** SHA-256 (hex) that identifies weights, hyperparameters and vocabulary, and the adapter where there is one. */
  fingerprint: string;
  /** What files of this model's exact prefixes name (hex) where chunk files name the prefix they were encoded behind. */
  prefixRoot: string;
  kvDtype: KvDtype;
  /** Tokens of a block, in which sessions take memory for KV and share what they begin with. */
  kvBlockTokens: number;
  bosToken: number; // -1 when the model has none
  eosToken: number;
  addBos: boolean;
  /** Text of the special tokens, for chat templates. */
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
  /** Tokens to compute in full: prefix, misses, history, question. */
  | {
      kind: 'compute';
      tokens: Int32Array;
      /** Whether it is a passage of its own; only a server's model looks at it, which joins passages as text. */
      passage?: boolean | undefined;
    }
  /** A cached chunk, or a range of its tokens, placed where it stands in the list. */
  | { kind: 'chunk'; chunk: NativeChunk; range?: NativeTokenRange | undefined };

/** Tokens begin … begin + count of a chunk: 0 ≤ begin, 1 ≤ count, begin + count ≤ the chunk's tokens. */
export interface NativeTokenRange {
  begin: number;
  count: number;
}

/** The smallest share of the reusable tokens whose scores cover `cover` of their sum, within least … most. All in 0 … 1. */
export interface NativeAdaptive {
  cover: number;
  least: number;
  most: number;
}

/** One share of the reusable tokens, or an adaptive one. */
type NativeBudget = { ratios: [number] } | { adaptive: NativeAdaptive };

/** The share of the recomputed tokens' mean change, weighed by distance, that is added to stored tokens, 0 … 1. Default: 0. */
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

/** For comparisons: these tokens of the prompt (ascending), from the first layer on, or kept at a check layer as others keep theirs. */
export interface NativeGiven extends NativeShift {
  kind: 'given';
  tokens: Int32Array;
  checkLayers?: [number];
}

/** What is compared: fresh and stored values, keys, or both. Default: v. */
export type NativeDeviationOf = 'v' | 'k' | 'kv';

export interface NativeProgress {
  /** Rows × layers done and in all: proportional to work, so that time left can be estimated. */
  done: number;
  total: number;
}

/** Squared L2 of V (or K, as the strategy says) fresh − stored, summed over KV heads, over some tokens. */
export interface NativeDeviationStats {
  tokens: number;
  mean: number;
  p95: number;
}

export interface NativeLayerReport {
  layer: number;
  /** Rows computed in this layer. */
  rows: number;
  /** Milliseconds since the call began; 0,0 where nothing was loaded. */
  loadStart: number;
  loadEnd: number;
  /** Bytes of chunk KV brought in for this layer. */
  loadBytes: number;
  placeMs: number;
  computeStart: number;
  computeEnd: number;
  /** Of reusable tokens computed in this layer and beyond; null where there are none, or nothing stored was loaded. */
  recomputed: NativeDeviationStats | null;
  /** Of reusable tokens that a check in this layer looked at and left as stored. */
  stored: NativeDeviationStats | null;
}

export interface NativeCheckReport {
  layer: number;
  /** Tokens selected here, as a share of all reusable ones. */
  ratio: number;
  /** Prompt positions (relative to this append) that were candidates, ascending. */
  candidates: Int32Array;
  /** Squared L2 of V (or K, as the strategy says) fresh − stored, summed over KV heads, for each candidate. */
  deviation: Float32Array;
  /** Positions kept for recomputation after this check, ascending. */
  selected: Int32Array;
}

export interface NativeQuestionReport {
  layers: Int32Array;
  /** Prompt positions (relative to this append) of the reusable tokens, ascending. */
  candidates: Int32Array;
  /** For each: the attention it got, mean over heads, layers and (up to 64 of) the question's tokens. */
  attention: Float32Array;
}

export interface NativeAppendReport {
  /** Tokens appended, and how many of them stood in chunks. */
  tokens: number;
  reusableTokens: number;
  /** Reusable tokens computed beyond the last check layer (for 'full' nothing is reusable). */
  recomputedTokens: number;
  /** That went through the model: beside those appended, older ones that a session of libllama had to go back to. */
  processedTokens: number;
  /** Which: prompt positions (relative to this append), ascending. */
  selected: Int32Array;
  /** Read from files; and copied to a device with memory of its own, from files or from memory. */
  bytesLoaded: number;
  bytesCrossed: number;
  layers: NativeLayerReport[];
  checks: NativeCheckReport[];
  /** What the question looked at; null when the strategy does not ask. */
  question: NativeQuestionReport | null;
  /** From call to logits of the last token. */
  totalMs: number;
  stages: {
    /** The question's own pass, without loading and placing. */
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
  /** Of the answer's last 64 tokens; 1: none. */
  repeatPenalty: number;
  seed: number;
  /** How many of the likeliest tokens each sampled one is told with; absent: none, nor its own chance. */
  chances?: number | undefined;
  /** In GBNF, from its rule `root` on: what may be written. BAD_ARGUMENT when it cannot be read. */
  grammar?: string | undefined;
}

/** A token and the natural logarithm of its probability. */
interface NativeChance {
  token: number;
  logprob: number;
}

/** What was sampled, by the model's distribution over all tokens as it is, before any filter; the likeliest first. */
export interface NativeSampled extends NativeChance {
  top: NativeChance[];
}

export interface NativeGenerateResult {
  tokens: Int32Array;
  stop: 'eos' | 'length' | 'aborted' | 'context';
  ms: number;
  /** What a server counted, of a model that is on one; null where it did not say. */
  usage?: { promptTokens: number | null; cachedTokens: number | null; answerTokens: number | null };
}

/** A flag native code polls at least once a layer. */
export interface NativeAbort {
  abort(): void;
}

export interface NativeChunk {
  readonly tokens: Int32Array;
  readonly dtype: KvDtype;
  /** Bytes of KV. */
  readonly bytes: number;
  /** Whether the KV is in memory (else it is read from the file, layer by layer, when used). */
  readonly inMemory: boolean;
  /** Writes the chunk file and fsyncs it (no rename). DISK_FULL, STORE_READ_ONLY. Resolves with the file's bytes. */
  save(path: string): Promise<number>;
  /** Reads all layers into memory, verifying checksums. */
  pullIn(): Promise<void>;
  /**
   * Of a chunk that receiveChunk() made: the next bytes of its file, in order. Each layer is verified once it is whole, and whoever
   * waits for it goes on. CHUNK_CORRUPT, which fails the chunk.
   */
  receive(bytes: Uint8Array): void;
  /** Nothing more will come: whoever waits for a layer gets this error. Does nothing once all has come. dispose() does it too. */
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

/** How chunk KV is brought in from files. Anything but the default (pipelined, unthrottled) is for comparisons. */
export interface NativeLoading {
  /** Load a layer when it is its turn, instead of while the one before computes. */
  serial: boolean;
  /** No faster than this, as from a slow disk or a network; 0: as fast as it goes. */
  bytesPerSecond: number;
}

export interface NativeSession {
  readonly length: number;
  readonly capacity: number;
  /** Appends segments behind what is there; the logits of the last token are then ready for generate(). */
  append(
    segments: NativeSegment[],
    strategy: NativeStrategy | NativeGiven,
    abort: NativeAbort,
    onProgress?: (p: NativeProgress) => void,
    loading?: NativeLoading,
    /** How many tokens at the end, all of them behind the last chunk, have their attention kept for deviationFrom(). Default: 0. */
    observe?: number,
    /** Among appends at once those of the lowest number go first; from 2 on after all answers that are written. Default: 0. */
    priority?: number,
  ): Promise<NativeAppendReport>;
  /** Logits of the last computed token, [vocab]; for parity and quality measurements. */
  logits(): Float32Array;
  /** Samples and decodes until EOS, maxTokens or abort. onToken gets ids in order, or where chances are asked for what was sampled. */
  generate(
    maxTokens: number,
    sampling: NativeSampling,
    abort: NativeAbort,
    onToken?: (token: number | NativeSampled) => void,
  ): Promise<NativeGenerateResult>;
  /** Forgets everything from `length` on, and gives back memory that was reserved beyond it. */
  truncate(length: number): void;
  /**
   * Begins an empty session with what the model's memory still holds of the beginning of `tokens`: whole blocks that were
   * computed exactly, as text; at least two tokens are left to compute. Resolves with the tokens it then has.
   */
  adopt(tokens: Int32Array): Promise<number>;
  /** A session that begins with the first `length` tokens of this one and shares their memory. */
  fork(length: number): Promise<NativeSession>;
  /** Takes memory for `tokens` in all, so that none is missing later. OUT_OF_MEMORY. */
  reserve(tokens: number): Promise<void>;
  /** Has the system give the memory of reserved positions [begin, end) now, rather than when they are first written. */
  warm(begin: number, end: number): Promise<void>;
  /** How far this session is from `other`, of the same model, over tokens that both hold. */
  deviationFrom(other: NativeSession, begin: number, count: number): Promise<NativeSessionDeviation>;
  dispose(): void;
}

/** What CacheBlend (§4.2) calls KV deviation and attention deviation. */
export interface NativeSessionDeviation {
  /** [layers][count]: squared L2 over KV heads of keys (where they stand) and values. */
  k: Float32Array;
  v: Float32Array;
  /**
   * [layers]: L2 of the difference of an observed token's attention weights, root mean square over heads and tokens: 0 to √2.
   * null unless the last append of both observed as many tokens.
   */
  attention: Float32Array | null;
}

/** Memory of sessions in blocks: each is free, used by sessions, or evictable: cached, since its prefix may come again. */
export interface NativeKvUsage {
  blockTokens: number;
  blockBytes: number;
  blocks: number;
  /** Those that several sessions share count once. */
  used: number;
  evictable: number;
  /** Steps of decoding so far, and the tokens they gave: several in one where answers are written at once. */
  decodeSteps: number;
  decodedTokens: number;
}

/** What of stored chunks is kept in the memory of the model's device. */
export interface NativeDeviceTier {
  bytes: number;
  /** What it may grow to now: the budget, or less where memory is short. */
  limitBytes: number;
  /** Of the device's memory. */
  totalBytes: number;
  chunks: number;
}

export interface NativeModel {
  readonly info: NativeModelInfo;
  /** `behind`: the text goes on behind other text, and no blank of the vocabulary's is put before it; then nothing special is added. */
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean, behind?: boolean): Int32Array;
  detokenize(tokens: Int32Array, special: boolean): string;
  /** Encodes `tokens` alone behind `prefix` (e.g. BOS), whose own KV is dropped; keys are kept without RoPE. */
  encodeChunk(
    tokens: Int32Array,
    prefix: Int32Array,
    dtype: KvDtype,
    abort: NativeAbort,
    onProgress?: (p: NativeProgress) => void,
    priority?: number,
  ): Promise<NativeChunk>;
  /** Opens a chunk file: header checked, KV not read. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  openChunk(path: string): Promise<NativeChunk>;
  /**
   * A chunk that can be placed while it arrives: an append waits for each layer. `beginning`: of its file of `fileBytes` bytes, header
   * included; the rest comes by NativeChunk.receive(). CHUNK_CORRUPT (also when it is not the key's), CHUNK_VERSION, CHUNK_MISMATCH.
   */
  receiveChunk(key: string, beginning: Uint8Array, fileBytes: number): NativeChunk;
  /** At most `capacity` tokens. It takes memory as it grows. */
  createSession(capacity: number): NativeSession;
  /** The memory of all sessions, when what was called before is done. */
  kvUsage(): Promise<NativeKvUsage>;
  /** Bytes beyond which prefixes that no session holds are given up. Sessions get what they need. Default: 1 GiB. */
  setKvBudget(bytes: number): void;
  /** Whether nothing has to be brought in for the stored chunk of this key: it is kept in the device's memory. */
  onDevice(key: string): boolean;
  /** null where all layers live on the host. */
  deviceTier(): NativeDeviceTier | null;
  /** Bytes of stored chunks that the device's memory may hold; null: half of what is free beside sessions and passes. */
  setDeviceBudget(bytes: number | null): void;
  /** The blocks that are cached of the beginning of `tokens`, to be saved; null when there are none. */
  exportPrefix(tokens: Int32Array): Promise<NativeChunk | null>;
  /** Opens a file that exportPrefix's result was saved to. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  openPrefix(path: string): Promise<NativeChunk>;
  /** Caches its blocks, as if they had been computed. CHUNK_CORRUPT, CHUNK_MISMATCH, OUT_OF_MEMORY. */
  importPrefix(prefix: NativeChunk): Promise<void>;
  dispose(): void;
}

/** llama.cpp's own llama_decode on the same file: the reference for parity and benches. */
export interface NativeReference {
  prefill(tokens: Int32Array): Promise<{ ms: number; logits: Float32Array }>;
  /** Greedy decode behind the last prefill. */
  decode(count: number): Promise<{ ms: number; tokens: Int32Array }>;
  /** Forgets positions from `length` on (prefix caching keeps the rest). */
  truncate(length: number): void;
  /** Cuts positions begin … end − 1 out and moves the rest to the left, as llama-server's cache reuse does (K-shift). */
  cut(begin: number, end: number): Promise<void>;
  dispose(): void;
}

export interface NativeReferenceOptions {
  contextTokens: number;
  threads: number;
  flashAttention: boolean;
  ubatch: number;
  /** As in NativeModelOptions. */
  device: string;
  adapter?: string | undefined;
}

export interface NativeEmbedderInfo {
  name: string;
  architecture: string;
  fileBytes: number;
  /** Length of a vector. */
  dimension: number;
  /** Longest text in tokens, special tokens included; what is beyond it is left out. */
  contextTokens: number;
  pooling: 'mean' | 'cls' | 'last';
  threads: number;
  loadMs: number;
}

/** An embedding model, run by libllama on a native thread of its own. */
export interface NativeEmbedder {
  readonly info: NativeEmbedderInfo;
  /**
   * One vector a text, one after another: [texts][dimension], each of length 1 (all zeros for a text without tokens).
   * A text's vector does not depend on the others. Polls `abort` within each text. ABORTED.
   */
  embed(texts: string[], abort: NativeAbort): Promise<Float32Array>;
  /** Tokens of a text, special ones included, whether it fits or not. */
  countTokens(text: string): number;
  dispose(): void;
}

export interface NativeAddon {
  /** Loads ggml's backends from a folder, where packs are none of them, and silences its log. Call once, first. */
  init(librariesDir: string): void;
  /** Loads a library with a backend for GPUs, whose devices are then listed too. */
  loadPack(path: string): void;
  version(): { ggml: string; addon: string };
  listDevices(): NativeDevice[];
  readGguf(path: string): NativeGgufInfo;
  /** The same on a thread of its own. */
  readGgufAside(path: string): Promise<NativeGgufInfo>;
  /** Of a file's weights, as the fingerprint of a model that is loaded from it. */
  fingerprintGguf(path: string): Promise<string>;
  /** Holds a LoRA adapter against the model file that it is to change. ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED. */
  checkAdapter(path: string, model: string): void;
  loadModel(
    path: string,
    options: NativeModelOptions,
    onProgress?: (fraction: number) => void,
  ): Promise<NativeModel>;
  /**
   * Loads a model for libllama to run. It has a model's whole face: its sessions take segments to compute only, and what has to do
   * with chunks throws a TypeError.
   */
  loadLlamaModel(
    path: string,
    options: NativeModelOptions,
    onProgress?: (fraction: number) => void,
  ): Promise<NativeModel>;
  readChunkHeader(path: string): NativeChunkHeader;
  /** Reads the whole file and checks every checksum; rejects with CHUNK_CORRUPT or CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void>;
  createAbort(): NativeAbort;
  loadReference(path: string, options: NativeReferenceOptions): Promise<NativeReference>;
  /** MODEL_INVALID, MODEL_UNSUPPORTED (a reranker, an architecture libllama does not know …), OUT_OF_MEMORY. */
  loadEmbedder(path: string, options: NativeModelOptions): Promise<NativeEmbedder>;
}
