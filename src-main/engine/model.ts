import { guarded, guardedAsync, withAbort, type CallOptions } from './call.ts';
import { ChunkKv } from './chunk-kv.ts';
import { Marks } from './marks.ts';
import type {
  KvDtype,
  NativeAddon,
  NativeDeviceTier,
  NativeKvUsage,
  NativeModel,
  NativeModelInfo,
} from './native.ts';
import { Session } from './session.ts';

/** As in native/llama/llama_session.cc. */
const KEPT_STATES = 4;

interface EncodeOptions extends CallOptions {
  lead?: Int32Array | undefined;
  priority?: number | undefined;
}

/** A loaded model. Its calls run one after another; dispose() frees weights and every session and chunk in memory. */
export class Model {
  readonly info: NativeModelInfo;
  readonly path: string;
  /** File of the LoRA adapter that changes it. */
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

  /**
   * Token ids of `text`. `special` lets text like <|im_start|> become its control token: only for trusted templates. `begins`: it stands at
   * the beginning of a prompt, where some vocabularies put a blank; otherwise it goes on behind other text.
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

  /** What a chunk is encoded behind: BOS where prompts of the model begin with it. Its own KV is dropped. */
  get encodingPrefix(): Int32Array {
    const { bosToken, bosText, addBos, chatTemplate } = this.info;
    // Headers may leave the BOS to the chat template.
    const byTemplate =
      chatTemplate.includes('bos_token') || (bosText !== '' && chatTemplate.includes(bosText));
    return bosToken >= 0 && (addBos || byTemplate) ? Int32Array.of(bosToken) : new Int32Array(0);
  }

  /** Bytes of KV per token, in the store and in sessions. */
  bytesPerToken(dtype: KvDtype): number {
    const values = this.info.kvValuesPerToken;
    return dtype === 'f16' ? values * 2 : (values / 32) * 34;
  }

  /** Bytes of a session beside its tokens' KV, at most: of a running state, and of those that are kept to go back to. */
  get bytesPerSession(): number {
    return this.info.stateValues * Float32Array.BYTES_PER_ELEMENT * (1 + KEPT_STATES);
  }

  /**
   * `lead`: what the chunk stands behind besides the encoding prefix; its KV is dropped as well. `priority`: as of appends; by default
   * it can wait.
   */
  async encodeChunk(
    tokens: Int32Array,
    dtype: KvDtype,
    { lead = new Int32Array(), priority, ...options }: EncodeOptions = {},
  ): Promise<ChunkKv> {
    const behind = Int32Array.of(...this.encodingPrefix, ...lead);
    const chunk = await withAbort(this.#addon, options.signal, (abort) =>
      this.#native.encodeChunk(tokens, behind, dtype, abort, options.onProgress, priority),
    );
    return new ChunkKv(chunk);
  }

  /** Opens a chunk file without reading its KV. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  async openChunk(path: string): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.#native.openChunk(path)));
  }

  /**
   * A chunk that may be placed while its file arrives: an append waits for each layer. `beginning`: the file's first bytes, its whole
   * header at least. CHUNK_CORRUPT (also when it is not the key's), CHUNK_VERSION, CHUNK_MISMATCH.
   */
  receiveChunk(key: string, beginning: Uint8Array, fileBytes: number): ChunkKv {
    return new ChunkKv(guarded(() => this.#native.receiveChunk(key, beginning, fileBytes)));
  }

  /**
   * A pass of two tokens in a session of its own. Where a file makes ggml end the process, or compute what is no number, that
   * shows here and not in the first answer. MODEL_NUMBERS, OUT_OF_MEMORY, ENGINE_FAILED.
   */
  async tryOut(): Promise<void> {
    const session = this.createSession(2);
    try {
      await session.append([{ kind: 'compute', tokens: Int32Array.of(0, 0) }], { kind: 'full' });
    } finally {
      session.dispose();
    }
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

  /** Whether the stored chunk of this key is in the memory of the model's device, so that nothing of it has to be brought in. */
  onDevice(key: string): boolean {
    return guarded(() => this.#native.onDevice(key));
  }

  /** What is kept in the memory of the model's device; null where all layers live on the host. */
  deviceTier(): NativeDeviceTier | null {
    return guarded(() => this.#native.deviceTier());
  }

  /** Bytes of stored chunks that the device's memory may hold; undefined: what suits the memory it has. */
  setDeviceBudget(bytes: number | undefined): void {
    guarded(() => this.#native.setDeviceBudget(bytes ?? null));
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
