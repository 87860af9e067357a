import type { Conversation, ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import { keyFor, type FusionModel } from '../fusion/model.ts';
import type { ChunkStore } from '../kvstore/store.ts';
import { throwIfAborted, unlessAborted, yieldToEventLoop } from '../platform/abort.ts';
import type { EventBus } from '../platform/event-bus.ts';
import type { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import type { SettingsService } from '../platform/settings-service.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { searchText } from '../answering/context/follow-up.ts';
import type { Passages } from '../answering/passages.ts';

interface PrefetcherOptions {
  models: { readonly active: { model: FusionModel } | undefined };
  /** NOT_FOUND. */
  conversation: (id: string) => Conversation;
  retrieval: Retrieval;
  passages: Pick<Passages, 'chunk' | 'neighbours' | 'readable' | 'passagesOf'>;
  store: Pick<ChunkStore, 'entry' | 'prefetch' | 'stats'> & { readonly shared?: PrefetchSource | undefined };
  settings: Pick<SettingsService, 'current'>;
  events: EventBus;
  gate: Gate;
  log: Logger;
}

/** Chunks that other machines have. */
type PrefetchSource = Pick<NonNullable<ChunkStore['shared']>, 'locate' | 'ahead'>;

/** A question that is being typed. */
interface Draft {
  /** null: a conversation that does not exist yet, with these options. */
  conversationId: string | null;
  options: ConversationOptions;
  text: string;
}

/** Share of the memory budget for one guess: a wrong one must not evict chunks in use. */
const SHARE = 1 / 4;
/** With fewer characters a question matches anything. */
const FEWEST_CHARACTERS = 4;

const NOWHERE: Promise<ReadonlySet<string>> = Promise.resolve(new Set());

/**
 * Loads chunks that are about to be used: while a question is typed, those it would find; after an answer, those around its passages and
 * those that just missed the cut; from the local disk or another machine. One guess at a time, at the lowest priority; the next guess
 * cancels it.
 */
export class Prefetcher {
  readonly #options: PrefetcherOptions;
  readonly #unsubscribe: () => void;
  #round = new AbortController();
  #work: Promise<void> = Promise.resolve();
  /** The chunk being fetched from another machine, whichever guess requested it. */
  #coming: Promise<unknown> = Promise.resolve();

  constructor(options: PrefetcherOptions) {
    this.#options = options;
    this.#unsubscribe = options.events.on(({ topic, payload }) => {
      if (topic === 'chat.done' && payload.state === 'done')
        this.#guess((signal) => this.#aroundAnswer(payload.conversationId, payload.answerId, signal));
    });
  }

  /** Returns immediately. An empty text cancels the previous guess. */
  draft(draft: Draft): void {
    this.#guess((signal) => this.#forDraft(draft, signal));
  }

  /** Resolves when nothing is being loaded. */
  idle(): Promise<void> {
    return this.#work;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#round.abort();
    await this.#work;
  }

  #guess(find: (signal: AbortSignal) => Promise<number[]>): void {
    const { gate, log, settings } = this.#options;
    this.#round.abort();
    const { signal: ended } = (this.#round = new AbortController());
    if (!settings.current.prefetch) return;
    this.#work = this.#work
      .then(() => gate.background(async (signal) => this.#bring(await find(signal), signal), ended))
      .catch((error: unknown) => {
        if (!ended.aborted) log.warn('nothing-prefetched', { error: String(error) });
      });
  }

  async #forDraft({ conversationId, options, text }: Draft, signal: AbortSignal): Promise<number[]> {
    const question = text.trim();
    if (question.length < FEWEST_CHARACTERS) return [];
    const conversation = conversationId === null ? undefined : this.#options.conversation(conversationId);
    const { scope, topK } = this.#searchOf(conversation?.options ?? options);
    const whole = this.#wholeDocuments(scope);
    if (whole) return whole;
    const previous = conversation && lastQuestion(conversation, conversation.leafId);
    const search = searchText(question, previous === undefined ? [] : [previous]);
    const found = await this.#options.retrieval.find(search, { scope, topK, signal });
    return found.chunks.map(({ chunkId }) => chunkId);
  }

  async #aroundAnswer(conversationId: string, answerId: string, signal: AbortSignal): Promise<number[]> {
    const { conversation, retrieval, passages } = this.#options;
    const asked = conversation(conversationId);
    const question = lastQuestion(asked, answerId);
    if (question === undefined) return [];
    const { scope, topK } = this.#searchOf(asked.options);
    const found = topK ?? retrieval.usualTopK;
    const { chunks } = await retrieval.find(question, { scope, topK: 2 * found, signal });
    const best = [...chunks].sort((a, b) => b.score - a.score).map(({ chunkId }) => chunkId);
    const neighbours = best.slice(0, found).flatMap((id) => passages.neighbours(id));
    return [...new Set([...neighbours, ...best.slice(found)])];
  }

  /** The chunks of chosen documents, where they fit the context. */
  #wholeDocuments(scope: Scope): number[] | undefined {
    const { passages, settings } = this.#options;
    if (scope.documentIds.length === 0) return undefined;
    const { documents, tokens, isComplete } = passages.readable(scope);
    if (!isComplete || tokens === 0 || tokens > settings.current.contextTokens) return undefined;
    return documents.flatMap(({ id }) => passages.passagesOf(id).map((each) => each.id));
  }

  #searchOf({ scope, topK = this.#options.settings.current.topK }: ConversationOptions) {
    return { scope, topK };
  }

  async #bring(chunkIds: readonly number[], signal: AbortSignal): Promise<void> {
    const { models, store } = this.#options;
    const model = models.active?.model;
    if (!model || !model.blends) return;
    const wanted = await this.#wanted(chunkIds, model, signal);
    const keys = wanted.map(({ key }) => key);
    const elsewhere = await unlessAborted(store.shared?.locate(keys) ?? NOWHERE, signal);
    const { ram, bytes: stored, diskBudgetBytes } = store.stats();
    const room = { memory: ram.budgetBytes * SHARE, disk: diskBudgetBytes - stored };
    for (const { key, bytes } of wanted) {
      await yieldToEventLoop();
      throwIfAborted(signal);
      const entry = store.entry(key);
      if (entry ? entry.inRam : !elsewhere.has(key)) continue;
      room.memory -= entry?.bytes ?? bytes;
      if (room.memory < 0) return;
      if (!entry) {
        room.disk -= bytes;
        if (room.disk < 0 || !(await this.#fetch(key, model, signal))) continue;
      }
      if (this.#isInUse(model)) await store.prefetch(key, model, 'made');
    }
  }

  async #wanted(
    chunkIds: readonly number[],
    model: FusionModel,
    signal: AbortSignal,
  ): Promise<{ key: string; bytes: number }[]> {
    const { passages, settings } = this.#options;
    const wanted = [];
    for (const id of chunkIds) {
      await yieldToEventLoop();
      throwIfAborted(signal);
      const passage = passages.chunk(id);
      if (!passage) continue;
      const { dtype } = settings.current;
      const bytes = passage.tokens.length * model.bytesPerToken(dtype);
      wanted.push({ key: keyFor(model, dtype, passage), bytes });
    }
    return wanted;
  }

  /**
   * Fetches a chunk from another machine: one at a time. A transfer in progress continues when its guess ends, since a question asked now
   * most likely needs the chunk and then uses what has arrived.
   */
  async #fetch(key: string, model: FusionModel, signal: AbortSignal): Promise<boolean> {
    const { shared } = this.#options.store;
    await unlessAborted(this.#coming, signal);
    if (!shared || !this.#isInUse(model)) return false;
    const coming = shared.ahead(key, model);
    this.#coming = coming;
    return unlessAborted(coming, signal);
  }

  #isInUse(model: FusionModel): boolean {
    return this.#options.models.active?.model === model;
  }
}

/** The question that a message answers, or the last one asked before it. */
function lastQuestion({ messages }: Conversation, messageId: string | null): string | undefined {
  for (let id = messageId; id !== null;) {
    const message = messages.find((each) => each.id === id);
    if (message?.role === 'user') return message.text;
    id = message?.parentId ?? null;
  }
  return undefined;
}
