import { KvasirError } from '../../src-shared/errors.ts';
import { prefixKey, type ChunkEntry, type ChunkStore } from '../kvstore/store.ts';
import { BackgroundTasks } from '../platform/background-tasks.ts';
import type { Gate } from '../platform/gate.ts';
import type { FusionModel } from './model.ts';

export type PrefixModel = Pick<FusionModel, 'info' | 'exportPrefix' | 'openPrefix' | 'importPrefix'>;

interface StoredPrefixesOptions {
  store: Pick<ChunkStore, 'list' | 'has' | 'put' | 'borrow'>;
  gate: Gate;
  onBackgroundError?: ((error: unknown) => void) | undefined;
}

/** The label of a prefix without text of documents or users. */
export const SYSTEM_PROMPT = 'prompt beginning';

/**
 * Prompt prefixes that were computed exactly (e.g. a system prompt), stored across restarts: written in the background after an answer, and
 * loaded into the model before a prompt with the same prefix. Our engine keeps them in whole blocks; libllama's memory is restored only
 * behind exactly the tokens of a file.
 */
export class StoredPrefixes {
  readonly #options: StoredPrefixesOptions;
  /** The prefixes loaded into each model since it was loaded. */
  readonly #brought = new WeakMap<PrefixModel, Int32Array[]>();
  readonly #tasks: BackgroundTasks;

  constructor(options: StoredPrefixesOptions) {
    this.#options = options;
    this.#tasks = new BackgroundTasks({ gate: options.gate, onFailed: options.onBackgroundError });
  }

  /**
   * Loads the longest stored prefix of `tokens` into the model, if it is longer than the `known` tokens that the model has. Returns whether
   * it did: a file that cannot be used is ignored and set aside. Calls `onDamaged` if a checksum did not match.
   */
  async bring(
    model: PrefixModel,
    tokens: Int32Array,
    known: number,
    onDamaged?: () => void,
  ): Promise<boolean> {
    // A session leaves two tokens to compute.
    const usable = Math.max(0, tokens.length - 2);
    const entry = this.#longest(model, inBlocks(model) ? tokens : tokens.subarray(0, usable));
    if (!entry || Math.min(entry.tokens, usable) < known + model.info.kvBlockTokens) return false;
    const noting = async <T>(reading: Promise<T>): Promise<T> => {
      try {
        return await reading;
      } catch (error) {
        if (error instanceof KvasirError && error.code === 'CHUNK_CORRUPT') onDamaged?.();
        throw error;
      }
    };
    const opener = { openChunk: (path: string) => noting(model.openPrefix(path)) };
    try {
      const done = await this.#options.store.borrow(entry.key, opener, async (prefix) => {
        await noting(model.importPrefix(prefix));
        return prefix.tokens.slice();
      });
      if (done) this.#brought.set(model, [...(this.#brought.get(model) ?? []), done]);
      return done !== undefined;
    } catch (error) {
      // It is computed instead; a failure that matters for the answer occurs there, too.
      this.#options.onBackgroundError?.(error);
      return false;
    }
  }

  /** How many of the first `count` of `tokens` came from the store. */
  restored(model: PrefixModel, tokens: Int32Array, count: number): number {
    const each = (this.#brought.get(model) ?? []).map((prefix) => {
      const same = sameBegin(prefix, tokens);
      return inBlocks(model) || same === prefix.length ? same : 0;
    });
    return Math.min(count, wholeBlocks(model, Math.max(0, ...each)));
  }

  /** Stores the model's KV for the prefix of `tokens`, at the lowest priority; `label` as in PutMeta. */
  keep(model: PrefixModel, tokens: Int32Array, label = SYSTEM_PROMPT): void {
    const whole = tokens.subarray(0, wholeBlocks(model, tokens.length));
    if (whole.length >= model.info.kvBlockTokens) this.#tasks.add(() => this.#store(model, whole, label));
  }

  /** Resolves when nothing is being stored. */
  idle(): Promise<void> {
    return this.#tasks.idle();
  }

  /** Releases the model: prefixes not stored by now are computed again after a restart. */
  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  async #store(model: PrefixModel, tokens: Int32Array, label: string): Promise<void> {
    if (this.#longest(model, tokens)?.tokens === tokens.length) return;
    const { store } = this.#options;
    const prefix = await model.exportPrefix(tokens);
    if (!prefix) return;
    try {
      const { fingerprint, prefixRoot: root } = model.info;
      const key = prefixKey({ fingerprint, root, dtype: prefix.dtype, tokens: prefix.tokens });
      if (!store.has(key)) await store.put(key, prefix, { label });
    } finally {
      prefix.dispose();
    }
  }

  #longest({ info }: PrefixModel, tokens: Int32Array): ChunkEntry | undefined {
    const { fingerprint, prefixRoot: root } = info;
    return this.#options.store
      .list({ kind: 'prefix', fingerprint })
      .filter((entry) => entry.prefixHash === root && entry.tokens <= tokens.length)
      .toSorted((a, b) => b.tokens - a.tokens)
      .find(({ key, dtype, tokens: count }) => {
        return key === prefixKey({ fingerprint, root, dtype, tokens: tokens.subarray(0, count) });
      });
  }
}

function sameBegin(a: Int32Array, b: Int32Array): number {
  let same = 0;
  while (same < Math.min(a.length, b.length) && a[same] === b[same]) same++;
  return same;
}

function inBlocks({ info }: PrefixModel): boolean {
  return info.engine !== 'llama';
}

/** Rounds a token count down to whole blocks where the engine keeps prefixes in these. */
function wholeBlocks(model: PrefixModel, tokens: number): number {
  const { kvBlockTokens } = model.info;
  return inBlocks(model) ? Math.floor(tokens / kvBlockTokens) * kvBlockTokens : tokens;
}
