import type { Settings } from '../../src-shared/settings.ts';
import { ChunksAhead, type AheadStore, type ExpectedChunk } from '../fusion/chunks-ahead.ts';
import { keyFor, type TokensWithLead } from '../fusion/model.ts';
import type { ChunkStore } from '../kvstore/store.ts';
import { isAborted } from '../platform/abort.ts';
import type { AtHand } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import type { WordSearch } from '../retrieval/types.ts';
import { requireLocal } from './backends/backend-of.ts';
import type { NamedModel } from './named-model.ts';
import type { Passages } from './passages.ts';

interface WaitingPromptsOptions {
  models: { readonly active: NamedModel | undefined };
  store: AheadStore & Pick<ChunkStore, 'isOpen'>;
  words: WordSearch;
  passages: Pick<Passages, 'chunk'>;
  settings: { readonly current: Pick<Settings, 'prefetch' | 'dtype'> };
  log: Pick<Logger, 'debug'>;
}

/** The chunks that a prompt most likely places, for the model in use. It may fail as the request will. */
type FindChunks = (active: NamedModel) => readonly TokensWithLead[] | Promise<readonly TokensWithLead[]>;

export interface WaitingPrompt {
  /** Bytes of its chunks that are in memory or in use. */
  atHand: AtHand;
  /** It begins, or its request was stopped. May be called again. */
  end(): void;
}

interface QueuedPrompt {
  find: FindChunks;
  ending: AbortController;
  /** undefined: not known yet. */
  chunks: ExpectedChunk[] | undefined;
  isLoaded: boolean;
}

/**
 * Prompts that wait for the model. Those that share chunks with running or recent prompts have them at hand, and the gate lets them begin
 * together. Meanwhile the others' chunks are loaded, in the order of arrival, into a quarter of the memory budget; what one prompt loaded
 * makes room for the next when it begins. When its turn comes, a prompt uses what has been loaded and joins what is being loaded.
 */
export class WaitingPrompts {
  readonly #options: WaitingPromptsOptions;
  readonly #ahead: ChunksAhead;
  /** In the order of arrival. */
  readonly #waiting = new Set<QueuedPrompt>();
  #working = false;

  constructor(options: WaitingPromptsOptions) {
    this.#options = options;
    this.#ahead = new ChunksAhead(options);
  }

  add(find: FindChunks): WaitingPrompt {
    const prompt: QueuedPrompt = { find, ending: new AbortController(), chunks: undefined, isLoaded: false };
    const { store } = this.#options;
    this.#waiting.add(prompt);
    void this.#work();
    return {
      atHand: () => bytesOf((prompt.chunks ?? []).filter(({ key }) => store.isOpen(key))),
      end: () => {
        this.#waiting.delete(prompt);
        prompt.ending.abort();
        void this.#work();
      },
    };
  }

  /** The passages that contain a question's words: most of what its own search will find. */
  async search(question: string, options: Parameters<WordSearch['byWords']>[1]): Promise<TokensWithLead[]> {
    const { words, passages } = this.#options;
    const ids = await words.byWords(question, options);
    return ids.flatMap((id) => passages.chunk(id) ?? []);
  }

  /** One task at a time. */
  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let task; (task = this.#next());) {
      try {
        await task();
      } catch (error) {
        if (!isAborted(error)) this.#options.log.debug('chunks-not-loaded-ahead', { error: String(error) });
      }
    }
    this.#working = false;
  }

  /** The order of all prompts depends on their chunks, so finding these comes before loading. */
  #next(): (() => Promise<void>) | undefined {
    const prompts = [...this.#waiting];
    const unknown = prompts.find(({ chunks }) => !chunks);
    if (unknown) return () => this.#find(unknown);
    const next = prompts.find(({ isLoaded }) => !isLoaded);
    if (!next || !this.#options.settings.current.prefetch) return undefined;
    const loaded = prompts.filter(({ isLoaded }) => isLoaded);
    const memory = this.#ahead.memory - bytesOf(loaded.flatMap(({ chunks = [] }) => chunks));
    return memory > 0 ? () => this.#load(next, memory) : undefined;
  }

  async #find(prompt: QueuedPrompt): Promise<void> {
    prompt.chunks = [];
    const { models, settings } = this.#options;
    const { active } = models;
    if (!active?.model.blends) return;
    const model = requireLocal(active);
    const { dtype } = settings.current;
    const found = await prompt.find(active);
    prompt.chunks = found.map((chunk) => ({
      key: keyFor(model, dtype, chunk),
      bytes: chunk.tokens.length * model.bytesPerToken(dtype),
    }));
  }

  async #load(prompt: QueuedPrompt, memory: number): Promise<void> {
    prompt.isLoaded = true;
    const { active } = this.#options.models;
    if (!active?.model.blends) return;
    const { signal } = prompt.ending;
    await this.#ahead.bring(prompt.chunks ?? [], requireLocal(active), { memory, signal });
  }
}

function bytesOf(chunks: readonly ExpectedChunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}
