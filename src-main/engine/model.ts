import { kvBytes, type KvDtype } from '../../src-shared/kv-dtype.ts';
import { guarded, guardedAsync, withAbort, type CallOptions } from './call.ts';
import { ChunkKv } from './chunk-kv.ts';
import { Marks } from './marks.ts';
import type { NativeAddon, NativeDeviceTier, NativeKvUsage, NativeModel, NativeModelInfo } from './native.ts';
import { Session } from './session.ts';

/** Must match Beginning::kCheckpoints in native/llama/beginnings.h. */
const MOST_CHECKPOINTS = 8;

/** Each has its own session: more would take memory without being answered sooner. */
const MOST_AT_ONCE = 8;

interface EncodeOptions extends CallOptions {
  lead?: Int32Array | undefined;
  priority?: number | undefined;
}

/**
 * A loaded model. Calls of one session run in call order, those of several sessions in turns; dispose() frees the
 * weights and every session and chunk in memory.
 */
export class Model {
  readonly info: NativeModelInfo;
  readonly path: string;
  /** File of the LoRA adapter applied to the model. */
  readonly adapter: string | undefined;
  readonly #addon: Pick<NativeAddon, 'createAbort'>;
  readonly #native: NativeModel;
  readonly #marks: Marks;

  constructor(addon: Pick<NativeAddon, 'createAbort'>, native: NativeModel, path: string, adapter?: string) {
    this.#addon = addon;
    this.#native = native;
    this.info = native.info;
    this.path = path;
    this.adapter = adapter;
    this.#marks = new Marks((text) => native.tokenize(text, false, false));
  }

  /** Whether passages' KV is computed separately and blended; otherwise every prompt is prefilled in full. */
  get blends(): boolean {
    return this.info.engine === 'blending';
  }

  /** How many answers it generates concurrently; libllama's turns do not interleave. */
  get answersAtOnce(): number {
    return this.blends ? MOST_AT_ONCE : 1;
  }

  /**
   * Token ids of `text`. `special` lets text like <|im_start|> become its control token: only for trusted templates.
   * `begins`: the text starts a prompt, where some vocabularies add a space; otherwise it continues other text.
   */
  tokenize(text: string, { addBos = false, special = false, begins = false } = {}): Int32Array {
    return guarded(() => {
      const [first = '', ...others] = special ? [text] : this.#marks.split(text);
      const ids = this.#native.tokenize(first, addBos, special, !begins && !addBos);
      if (others.length === 0) return ids;
      const rest = others.map((piece) => [...this.#native.tokenize(piece, false, special, true)]);
      return Int32Array.from([...ids, ...rest.flat()]);
    });
  }

  detokenize(tokens: Int32Array | readonly number[], { special = false } = {}): string {
    const ids = tokens instanceof Int32Array ? tokens : Int32Array.from(tokens);
    return guarded(() => this.#native.detokenize(ids, special));
  }

  /** Tokens that precede a chunk when it is encoded: BOS if the model's prompts begin with it. Their KV is dropped. */
  get encodingPrefix(): Int32Array {
    const { bosToken, bosText, addBos, chatTemplate } = this.info;
    // Headers may leave adding BOS to the chat template.
    const byTemplate =
      chatTemplate.includes('bos_token') || (bosText !== '' && chatTemplate.includes(bosText));
    return bosToken >= 0 && (addBos || byTemplate) ? Int32Array.of(bosToken) : new Int32Array(0);
  }

  /** KV bytes per token, in the store and in sessions. */
  bytesPerToken(dtype: KvDtype): number {
    return kvBytes(this.info.kvValuesPerToken, dtype);
  }

  /** Maximum bytes of a session apart from its tokens' KV: the running state and its checkpoints. */
  get bytesPerSession(): number {
    return this.info.stateValues * Float32Array.BYTES_PER_ELEMENT * (1 + MOST_CHECKPOINTS);
  }

  /**
   * Encodes consecutive chunks in one pass: each gets the KV that it would have alone, with the chunks before it as the end
   * of its lead. `lead`: tokens that precede the first chunk, after the encoding prefix; their KV is dropped.
   * `priority`: as for appends; by default the lowest.
   */
  async encodeChunks(
    texts: readonly Int32Array[],
    dtype: KvDtype,
    { lead = new Int32Array(), priority, ...options }: EncodeOptions = {},
  ): Promise<ChunkKv[]> {
    const behind = Int32Array.of(...this.encodingPrefix, ...lead);
    const chunks = await withAbort(this.#addon, options.signal, (abort) =>
      this.#native.encodeChunks(texts, behind, dtype, abort, options.onProgress, priority),
    );
    return chunks.map((chunk) => new ChunkKv(chunk));
  }

  /** The same for a single chunk. */
  async encodeChunk(tokens: Int32Array, dtype: KvDtype, options?: EncodeOptions): Promise<ChunkKv> {
    const [chunk] = await this.encodeChunks([tokens], dtype, options);
    return chunk as ChunkKv;
  }

  /**
   * Opens a chunk file without reading its KV. `patienceMs`: how long its drive may take for a call, then and whenever it
   * is read; absent: no limit. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH, CHUNK_UNREADABLE.
   */
  async openChunk(path: string, patienceMs?: number): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.#native.openChunk(path, patienceMs)));
  }

  /**
   * A chunk that can be placed while its file arrives: an append waits for each layer. `beginning`: the first bytes of
   * the file, including at least the whole header. CHUNK_CORRUPT (also if it does not match the key), CHUNK_VERSION,
   * CHUNK_MISMATCH.
   */
  receiveChunk(key: string, beginning: Uint8Array, fileBytes: number): ChunkKv {
    return new ChunkKv(guarded(() => this.#native.receiveChunk(key, beginning, fileBytes)));
  }

  /**
   * Computes two tokens in a temporary session. If a file makes ggml abort the process or compute NaNs, it happens here
   * and not in the first answer. MODEL_NUMBERS, OUT_OF_MEMORY, ENGINE_FAILED.
   */
  async tryOut(): Promise<void> {
    const session = this.createSession(2);
    try {
      await session.append([{ kind: 'compute', tokens: Int32Array.of(0, 0) }], { kind: 'full' });
    } finally {
      session.dispose();
    }
  }

  /** Holds at most `capacity` tokens; memory is allocated as it grows. */
  createSession(capacity: number): Session {
    return new Session(
      this.#addon,
      guarded(() => this.#native.createSession(capacity)),
    );
  }

  /** Memory use of all sessions, once earlier calls are done. */
  kvUsage(): Promise<NativeKvUsage> {
    return guardedAsync(() => this.#native.kvUsage());
  }

  /** Byte limit above which prefixes that no session uses are evicted; sessions always get what they need. */
  setKvBudget(bytes: number): void {
    guarded(() => this.#native.setKvBudget(bytes));
  }

  /** Whether the stored chunk of this key is in device memory, so that nothing has to be loaded. */
  onDevice(key: string): boolean {
    return guarded(() => this.#native.onDevice(key));
  }

  /** Contents of the chunk cache in device memory; null if all layers are on the host. */
  deviceTier(): NativeDeviceTier | null {
    return guarded(() => this.#native.deviceTier());
  }

  /** Maximum bytes of stored chunks in device memory; undefined: a default for the memory available. */
  setDeviceBudget(bytes: number | undefined): void {
    guarded(() => this.#native.setDeviceBudget(bytes ?? null));
  }

  /**
   * What is cached of the beginning of `tokens`, for the store: KV of whole blocks, or libllama's memory up to a
   * checkpoint; undefined if there is none.
   */
  async exportPrefix(tokens: Int32Array): Promise<ChunkKv | undefined> {
    const prefix = await guardedAsync(() => this.#native.exportPrefix(tokens));
    return prefix ? new ChunkKv(prefix) : undefined;
  }

  /** Opens a stored prefix. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  async openPrefix(path: string): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.#native.openPrefix(path)));
  }

  /** Adds a stored prefix to the cache, as if it had been computed. CHUNK_CORRUPT, CHUNK_MISMATCH, OUT_OF_MEMORY. */
  importPrefix(prefix: ChunkKv): Promise<void> {
    return guardedAsync(() => this.#native.importPrefix(prefix.native));
  }

  dispose(): void {
    this.#native.dispose();
  }
}
