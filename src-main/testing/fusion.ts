/**
 * A model, sessions and a store that only count: token ids come from a small reversible tokenizer, "KV" is the tokens
 * themselves, and a session remembers what was appended to it. The file is long because it fakes the whole engine.
 */
import { setImmediate as nextTask } from 'node:timers/promises';
import type {
  AppendOptions,
  AppendReport,
  ChunkError,
  GenerateOptions,
  GenerateResult,
  KvDtype,
  ModelInfo,
  Segment,
  SessionDeviation,
  Strategy,
} from '../engine/engine.ts';
import { ChunkKv } from '../engine/engine.ts';
import type { BlendingObstacle } from '../../src-shared/blending.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type {
  ChunkEntry,
  ChunkIdentity,
  Lease,
  LeaseSet,
  SimilarChunk,
  StoreStats,
} from '../kvstore/store.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../fusion/model.ts';

const BOS = 1;
const EOS = 2;
const IM_START = 3;
const IM_END = 4;
const FIRST_BYTE = 10;
const FIRST_WORD = 1000;
const FIRST_MARK = 300;
/** Control tokens of gpt-oss and Mistral; `<think>` is not one here, but a text of several tokens. */
const MARKS = ['<|start|>', '<|channel|>', '<|message|>', '<|end|>', '[THINK]', '[/THINK]'];
const SPECIAL = new Map([
  ['<s>', BOS],
  ['</s>', EOS],
  ['<|im_start|>', IM_START],
  ['<|im_end|>', IM_END],
  ...MARKS.map((mark, i): [string, number] => [mark, FIRST_MARK + i]),
]);
const CONTROL_TEXTS = new Map([...SPECIAL].map(([text, id]) => [id, text]));
const SPECIAL_TEXT = new RegExp(
  `(${[...SPECIAL.keys()].map((text) => text.replace(/[|[\]]/g, '\\$&')).join('|')})`,
);

/**
 * Words of one to four ASCII letters (with the preceding space) are one token; everything else is one token per byte.
 */
export class FakeTokenizer {
  readonly #ids = new Map<string, number>();
  readonly #words: string[] = [];

  tokenize(text: string, { addBos = false, special = false } = {}): Int32Array {
    const ids: number[] = addBos ? [BOS] : [];
    for (const part of special ? text.split(SPECIAL_TEXT) : [text]) {
      const control = special ? SPECIAL.get(part) : undefined;
      if (control !== undefined) ids.push(control);
      else if (part) ids.push(...this.#plain(part));
    }
    return Int32Array.from(ids);
  }

  detokenize(tokens: Int32Array | readonly number[], { special = false } = {}): string {
    const bytes: number[] = [];
    for (const token of tokens) {
      const control = CONTROL_TEXTS.get(token);
      if (control !== undefined) bytes.push(...new TextEncoder().encode(special ? control : ''));
      else if (token >= FIRST_WORD) bytes.push(...new TextEncoder().encode(this.#words[token - FIRST_WORD]));
      else if (token >= FIRST_BYTE) bytes.push(token - FIRST_BYTE);
    }
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }

  #plain(text: string): number[] {
    return (text.match(/ ?[A-Za-z]{1,4}|[^]/gu) ?? []).flatMap((piece) => {
      if (/^ ?[A-Za-z]+$/.test(piece)) return [this.#wordId(piece)];
      return [...new TextEncoder().encode(piece)].map((byte) => FIRST_BYTE + byte);
    });
  }

  #wordId(word: string): number {
    let id = this.#ids.get(word);
    if (id === undefined) {
      id = FIRST_WORD + this.#words.push(word) - 1;
      this.#ids.set(word, id);
    }
    return id;
  }
}

export interface FakeModelOptions {
  chatTemplate?: string;
  contextTrain?: number;
  /** The text of every answer; may contain control tokens. */
  says?: string;
  fingerprint?: string;
  parameterCount?: number;
  /** Why its passages cannot be blended: it then acts as a libllama model. */
  obstacle?: BlendingObstacle;
  /** Awaited before each token of an answer. */
  beforeToken?: (index: number) => Promise<void>;
}

export class FakeModel implements FusionModel {
  readonly info: ModelInfo;
  readonly path = 'fake.gguf';
  readonly encodingPrefix = Int32Array.of(BOS);
  readonly sessions: FakeSession[] = [];
  readonly sampled: GenerateOptions['sampling'][] = [];
  says: string;
  /** The texts of the next answers, before `says`. */
  readonly next: string[] = [];
  readonly beforeToken: (index: number) => Promise<void>;
  encoded = 0;
  /** How many passes encoded them. */
  passes = 0;
  /** The lead of each of them, without BOS. */
  readonly leads: string[] = [];
  readonly #tokenizer = new FakeTokenizer();

  constructor({
    chatTemplate = '',
    contextTrain = 4096,
    says = ' An answer.',
    fingerprint = 'f'.repeat(64),
    obstacle,
    beforeToken = () => Promise.resolve(),
    parameterCount = 1e8,
  }: FakeModelOptions = {}) {
    this.says = says;
    this.beforeToken = beforeToken;
    const known: Partial<ModelInfo> = {
      chatTemplate,
      contextTrain,
      fingerprint,
      parameterCount,
      engine: obstacle ? 'llama' : 'blending',
      obstacle: obstacle ?? '',
      stateValues: 0,
      layers: 4,
      kvLayers: 4,
      windows: [],
      layerDevices: ['CPU', 'CPU', 'CPU', 'CPU'],
      threads: 1,
      kvDtype: 'f16',
      kvBlockTokens: 64,
      bosToken: BOS,
      eosToken: EOS,
      addBos: true,
      bosText: '<s>',
      eosText: '</s>',
    };
    this.info = known as ModelInfo;
  }

  get blends(): boolean {
    return this.info.engine === 'blending';
  }

  get answersAtOnce(): number {
    return this.blends ? 8 : 1;
  }

  tokenize(text: string, options: { addBos?: boolean; special?: boolean } = {}): Int32Array {
    return this.#tokenizer.tokenize(text, options);
  }

  detokenize(tokens: Int32Array | readonly number[], options: { special?: boolean } = {}): string {
    return this.#tokenizer.detokenize(tokens, options);
  }

  bytesPerToken(): number {
    return 10;
  }

  /** Set if sessions should use memory apart from their tokens'. */
  bytesPerSession = 0;

  setKvBudget(): void {
    // It has memory for all.
  }

  /** Keys of chunks in its device's memory. */
  readonly there = new Set<string>();

  onDevice(key: string): boolean {
    return this.there.has(key);
  }

  async encodeChunks(
    texts: readonly Int32Array[],
    dtype: KvDtype,
    { lead = new Int32Array(), ...options }: { lead?: Int32Array; signal?: AbortSignal } = {},
  ): Promise<ChunkKv[]> {
    this.passes++;
    const chunks: ChunkKv[] = [];
    let before = lead;
    for (const tokens of texts) {
      chunks.push(await this.encodeChunk(tokens, dtype, { ...options, lead: before }));
      before = Int32Array.of(...before, ...tokens);
    }
    return chunks;
  }

  async encodeChunk(
    tokens: Int32Array,
    dtype: KvDtype,
    { lead, signal }: { lead?: Int32Array | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<ChunkKv> {
    await Promise.resolve();
    if (signal?.aborted) throw new KvasirError('ABORTED', 'stopped');
    if (this.info.engine !== 'blending') throw new TypeError('it has no KV of chunks');
    this.encoded++;
    this.leads.push(this.detokenize(lead ?? []));
    return fakeChunk(tokens, dtype);
  }

  openChunk(path: string): Promise<ChunkKv> {
    return Promise.reject(new Error(`a fake store opens no files: ${path}`));
  }

  exportPrefix(): Promise<ChunkKv | undefined> {
    return Promise.resolve(undefined);
  }

  openPrefix(path: string): Promise<ChunkKv> {
    return this.openChunk(path);
  }

  importPrefix(): Promise<void> {
    return Promise.resolve();
  }

  createSession(capacity: number): FakeSession {
    const session = new FakeSession(this, capacity);
    this.sessions.push(session);
    return session;
  }

  /** How much reused tokens change the logits. */
  drift = 1;

  /** A known prefix for sessions: already computed, as far as the model knows. */
  known = new Int32Array(0);
}

export class FakeSession implements FusionSession {
  readonly capacity: number;
  disposed = false;
  /** The tokens whose KV is held. */
  ids: number[] = [];
  /** Segments of the last append that succeeded. */
  segments: Segment[] = [];
  strategy: Strategy | undefined;
  /** Positions whose KV came from a chunk. */
  reused = new Set<number>();
  observed = 0;
  readonly #model: FakeModel;

  constructor(model: FakeModel, capacity: number) {
    this.#model = model;
    this.capacity = capacity;
  }

  get length(): number {
    return this.ids.length;
  }

  /** Ids of the last append. */
  get tokens(): number[] {
    return this.segments.flatMap((segment) => [
      ...(segment.kind === 'chunk' ? placedTokens(segment) : segment.tokens),
    ]);
  }

  async append(
    segments: Segment[],
    strategy: Strategy,
    { signal, onProgress, observe = 0 }: AppendOptions = {},
  ): Promise<AppendReport> {
    await Promise.resolve();
    onProgress?.({ done: 1, total: 2 });
    if (signal?.aborted) throw new KvasirError('ABORTED', 'stopped');
    segments.forEach((segment, index) => {
      if (segment.kind === 'chunk' && damaged.has(segment.chunk)) throw unusable(index, 'CHUNK_CORRUPT');
      if (segment.kind === 'chunk' && unreadable.has(segment.chunk))
        throw unusable(index, 'CHUNK_UNREADABLE');
    });
    if (this.#model.info.engine !== 'blending' && segments.some(({ kind }) => kind === 'chunk'))
      throw new TypeError('it places no chunks');
    this.segments = segments;
    this.strategy = strategy;
    if (this.ids.length + this.tokens.length > this.capacity)
      throw new KvasirError('CONTEXT_OVERFLOW', 'The prompt exceeds the context.');
    let at = this.ids.length;
    for (const segment of segments) {
      const { length } = segment.kind === 'chunk' ? segment.chunk.tokens : segment.tokens;
      for (let i = 0; i < length && segment.kind === 'chunk'; i++) this.reused.add(at + i);
      at += length;
    }
    this.observed = observe;
    this.ids.push(...this.tokens);
    const reusable = segments
      .filter((segment) => segment.kind === 'chunk')
      .flatMap((segment) => [...placedTokens(segment)]).length;
    const stages = { question: 0, place: 1, check: 1, select: 1, compute: 1, loadWait: 1, head: 1 };
    const recomputedTokens = strategy.kind === 'full' ? reusable : 0;
    return {
      tokens: this.tokens.length,
      reusableTokens: reusable,
      recomputedTokens,
      processedTokens: this.tokens.length - reusable + recomputedTokens,
      selected: new Int32Array(0),
      question: null,
      bytesLoaded: 0,
      bytesCrossed: 0,
      layers: [],
      checks: [],
      totalMs: 6,
      stages,
    };
  }

  /** Logits of two tokens; the more was reused, the less likely the first of them. */
  logits(): Float32Array {
    const share = this.reused.size / Math.max(1, this.ids.length);
    return Float32Array.of(1, this.#model.drift * share);
  }

  /** Reused tokens deviate by 1 from computed ones, in every layer; attention by the share of such tokens. */
  deviationFrom(other: FakeSession, begin: number, count: number): Promise<SessionDeviation> {
    const { layers } = this.#model.info;
    const v = Float32Array.from({ length: layers * count }, (_, i) => {
      const position = begin + (i % count);
      return this.reused.has(position) === other.reused.has(position) ? 0 : 1;
    });
    const share = v.reduce((sum, value) => sum + value, 0) / v.length;
    const attention = this.observed > 0 ? new Float32Array(layers).fill(share) : null;
    return Promise.resolve({ v, k: v.map((value) => 2 * value), attention });
  }

  async generate({ maxTokens, onToken, signal, sampling }: GenerateOptions): Promise<GenerateResult> {
    this.#model.sampled.push(sampling);
    const says = this.#unsaid(
      this.#model.tokenize(this.#model.next.shift() ?? this.#model.says, { special: true }),
    );
    const stopAt = Math.min(maxTokens, says.length);
    let written = 0;
    for (const token of says.subarray(0, stopAt)) {
      await nextTask(); // as native code, which hands over each token in a separate task
      await this.#model.beforeToken(written);
      if (signal?.aborted) break;
      written++;
      onToken?.(token);
      this.ids.push(token);
    }
    const stop = signal?.aborted ? 'aborted' : stopAt < says.length ? 'length' : 'eos';
    return { tokens: says.slice(0, written), stop, ms: 1, drafted: 0, accepted: 0 };
  }

  /** The rest of the answer if the session ends with its beginning. */
  #unsaid(says: Int32Array): Int32Array {
    for (let said = says.length - 1; said > 1; said--) {
      const tail = this.ids.slice(-said);
      if (tail.every((token, i) => token === says[i])) return says.subarray(said);
    }
    return says;
  }

  async adopt(tokens: Int32Array): Promise<number> {
    await Promise.resolve();
    const { known, blends } = this.#model;
    if (blends && this.ids.length > 0) throw new Error('only an empty session begins with known blocks');
    const shared = (ids: ArrayLike<number>): number => {
      let same = 0;
      while (same < Math.min(ids.length, tokens.length - 2) && ids[same] === tokens[same]) same++;
      return same;
    };
    this.ids = [...tokens.subarray(0, Math.max(shared(known), shared(this.ids)))];
    return this.ids.length;
  }

  async fork(length: number): Promise<FakeSession> {
    await Promise.resolve();
    const branch = this.#model.createSession(this.capacity);
    branch.ids = this.ids.slice(0, length);
    return branch;
  }

  async reserve(): Promise<void> {
    await Promise.resolve();
    if (this.disposed) throw new Error('the session is disposed');
  }

  async warm(): Promise<void> {
    await this.reserve();
  }

  truncate(length: number): void {
    if (length > this.ids.length) throw new RangeError("length must be between 0 and the session's length");
    this.ids.length = length;
    for (const position of this.reused) if (position >= length) this.reused.delete(position);
  }

  dispose(): void {
    if (this.disposed) throw new Error('session disposed twice');
    this.disposed = true;
  }
}

function placedTokens({ chunk: { tokens }, range }: Extract<Segment, { kind: 'chunk' }>): Int32Array {
  return range ? tokens.slice(range.begin, range.begin + range.count) : tokens;
}

const damaged = new Set<ChunkKv>();
const unreadable = new Set<ChunkKv>();

/** A store in memory. `damage` and `detach` make an entry fail when it is used; `lost`: when it is opened. */
export class FakeStore implements ChunkCache {
  readonly chunks = new Map<string, ChunkKv>();
  readonly quarantined: string[] = [];
  readonly foundKeys: string[] = [];
  readonly usedKeys: string[] = [];
  readonly lost = new Set<string>();
  /** Cannot be opened for now. */
  readonly away = new Set<string>();
  /** On a drive that is gone once one of them is reported. */
  readonly onDrive = new Set<string>();
  #isDriveGone = false;
  leases = 0;
  diskBudgetBytes = 1e9;
  putFails: KvasirError | undefined;

  has(key: string): boolean {
    return this.chunks.has(key);
  }

  isAway(key: string): boolean {
    return this.#isDriveGone && this.onDrive.has(key);
  }

  hasRoom(bytes: number): boolean {
    const held = [...this.chunks.values()].reduce((sum, chunk) => sum + chunk.bytes, 0);
    return held + bytes <= this.diskBudgetBytes;
  }

  found(key: string): void {
    this.foundKeys.push(key);
  }

  used(key: string): void {
    this.usedKeys.push(key);
  }

  /** It keeps no prefixes. */
  list(): ChunkEntry[] {
    return [];
  }

  async borrow<T>(
    key: string,
    _opener: unknown,
    task: (chunk: ChunkKv) => Promise<T>,
  ): Promise<T | undefined> {
    const chunk = this.chunks.get(key);
    return chunk && task(chunk);
  }

  entry(key: string): ChunkEntry | undefined {
    const known: Partial<ChunkEntry> = { inRam: false };
    return this.chunks.has(key) ? (known as ChunkEntry) : undefined;
  }

  async put(key: string, chunk: ChunkKv): Promise<void> {
    await Promise.resolve();
    if (this.putFails) throw this.putFails;
    this.chunks.set(key, fakeChunk(chunk.tokens, chunk.dtype));
  }

  async acquire(key: string): Promise<Lease | undefined> {
    await Promise.resolve();
    const chunk = this.chunks.get(key);
    if (!chunk || this.away.has(key)) return undefined;
    if (this.lost.has(key)) {
      await this.reportCorrupt(key);
      return undefined;
    }
    this.leases++;
    let released = false;
    const release = (): void => {
      if (!released) this.leases--;
      released = true;
    };
    return { key, chunk, tier: 'disk', bytes: chunk.bytes, prefetched: false, release };
  }

  async acquireMany(keys: Iterable<string>): Promise<LeaseSet> {
    const leases = new Map<string, Lease>();
    for (const key of new Set(keys)) {
      const lease = await this.acquire(key);
      if (lease) leases.set(key, lease);
    }
    return { leases, release: () => leases.forEach((lease) => lease.release()) };
  }

  similar({ dtype }: ChunkIdentity, limit = 3): Promise<SimilarChunk[]> {
    const alike = [...this.chunks].filter(([, chunk]) => chunk.dtype === dtype);
    const found = alike.slice(0, limit).map(([key, { tokens }]) => ({ key, tokens, shared: 1 }));
    return Promise.resolve(found);
  }

  async reportCorrupt(key: string): Promise<void> {
    await Promise.resolve();
    this.quarantined.push(key);
    this.chunks.delete(key);
  }

  async reportUnreadable(key: string): Promise<void> {
    await Promise.resolve();
    this.#isDriveGone ||= this.onDrive.has(key);
  }

  damage(key: string): void {
    const chunk = this.chunks.get(key);
    if (chunk) damaged.add(chunk);
  }

  detach(key: string): void {
    const chunk = this.chunks.get(key);
    if (chunk) unreadable.add(chunk);
  }

  stats(): StoreStats {
    const known: Partial<StoreStats> = { entries: this.chunks.size, diskBudgetBytes: this.diskBudgetBytes };
    return known as StoreStats;
  }
}

function fakeChunk(tokens: Int32Array, dtype: KvDtype): ChunkKv {
  return new ChunkKv({
    tokens,
    dtype,
    bytes: tokens.length * 10,
    inMemory: true,
    save: () => Promise.resolve(0),
    pullIn: () => Promise.resolve(),
    converted: (to) => Promise.resolve(fakeChunk(tokens, to).native),
    receive: () => undefined,
    fail: () => undefined,
    dispose: () => undefined,
  });
}

function unusable(chunkIndex: number, code: 'CHUNK_CORRUPT' | 'CHUNK_UNREADABLE'): KvasirError {
  const error: ChunkError = new KvasirError(code, 'A layer cannot be used.');
  error.chunkIndex = chunkIndex;
  return error;
}
