import type { Conversation, ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import { ChunksAhead, type AheadStore, type ExpectedChunk } from '../fusion/chunks-ahead.ts';
import { keyFor, type FusionModel } from '../fusion/model.ts';
import { throwIfAborted, yieldToEventLoop } from '../platform/abort.ts';
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
  store: AheadStore;
  settings: Pick<SettingsService, 'current'>;
  events: EventBus;
  gate: Gate;
  log: Logger;
}

/** A question that is being typed. */
interface Draft {
  /** null: a conversation that does not exist yet, with these options. */
  conversationId: string | null;
  options: ConversationOptions;
  text: string;
}

/** With fewer characters a question matches anything. */
const FEWEST_CHARACTERS = 4;

/**
 * Loads chunks that are about to be used: while a question is typed, those it would find; after an answer, those around its passages and
 * those that just missed the cut; from the local disk or another machine. One guess at a time, at the lowest priority; the next guess
 * cancels it.
 */
export class Prefetcher {
  readonly #options: PrefetcherOptions;
  readonly #unsubscribe: () => void;
  #round = new AbortController();
  readonly #ahead: ChunksAhead;
  #work: Promise<void> = Promise.resolve();

  constructor(options: PrefetcherOptions) {
    this.#options = options;
    this.#ahead = new ChunksAhead(options);
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
    const model = this.#options.models.active?.model;
    if (!model || !model.blends) return;
    const wanted = await this.#wanted(chunkIds, model, signal);
    await this.#ahead.bring(wanted, model, { memory: this.#ahead.memory, signal });
  }

  async #wanted(
    chunkIds: readonly number[],
    model: FusionModel,
    signal: AbortSignal,
  ): Promise<ExpectedChunk[]> {
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
