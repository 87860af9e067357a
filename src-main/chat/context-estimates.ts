import type { ContextEstimate } from '../../src-shared/contract/context.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { AnswerMaker } from '../answering/answer.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import { choicesOf } from '../answering/choices.ts';
import { conversationContext } from '../answering/context/conversation-context.ts';
import { documentShares } from '../answering/document-shares.ts';
import type { NamedModel } from '../answering/named-model.ts';
import type { Passages } from '../answering/passages.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { ToolSource } from '../tools/tool.ts';
import { usableTools } from '../answering/tools/usable-tools.ts';
import { offeredTools } from './conversation-tools.ts';
import type { Core } from '../platform/core.ts';
import type { ConversationRecord } from './conversations.ts';
import { historyBefore } from './history.ts';
import type { MessageStore } from './messages.ts';
import type { ConversationSessions } from './sessions.ts';

interface EstimatesOptions extends Pick<Core, 'gate' | 'settings'> {
  models: { readonly active: NamedModel | undefined };
  maker: Pick<AnswerMaker, 'choose'>;
  messages: MessageStore;
  sessions: ConversationSessions;
  passages: Passages;
  planner: Planner;
  toolSources: readonly ToolSource[];
}

/** `instructions`: of the project; '' if there are none. */
type Draft = Pick<ParsedInputOf<'chat.estimate'>, 'text' | 'options'> & { instructions: string };

/** Estimates what a question that is being typed would read, and when its answer would begin: one at a time. */
export class ContextEstimates {
  readonly #options: EstimatesOptions;
  #round = new AbortController();

  constructor(options: EstimatesOptions) {
    this.#options = options;
  }

  /** null without a model, and where it depends on a question that is not typed yet. Cancels the previous one. ABORTED. */
  estimate(draft: Draft, conversation: ConversationRecord | undefined): Promise<ContextEstimate | null> {
    this.#round.abort();
    const { signal } = (this.#round = new AbortController());
    return this.#options.gate.background((running) => this.#estimate(draft, conversation, running), signal);
  }

  close(): void {
    this.#round.abort();
  }

  async #estimate(
    { text, instructions, options: { scope, ...asked } }: Draft,
    conversation: ConversationRecord | undefined,
    signal: AbortSignal,
  ): Promise<ContextEstimate | null> {
    const { models, settings, messages, planner, passages, sessions, maker, toolSources } = this.#options;
    const { active } = models;
    const question = text.trim();
    if (!active || (question === '' && scope.documentIds.length === 0)) return null;
    const { model } = active;
    const { tools } = await offeredTools(toolSources, asked.tools, signal);
    const chosen = choicesOf({ ...asked, instructions }, settings.current, model, planner);
    const choices = { ...chosen, tools: usableTools(active, tools, chosen.think) };
    const { turns } = historyBefore({ parentId: conversation?.leafId ?? null }, messages, model);
    const request = conversationContext({ model, question, scope, choices, signal }, turns);
    const { kind, passages: found } = await maker.choose(request);
    if (question === '' && kind !== 'everything') return null;
    const prompt = request.layOut(found);
    const forecast = await backendOf(model).foresee(prompt, {
      choices,
      planner,
      past: (parts) => (conversation ? sessions.reusable(conversation.id, parts, choices.strategy) : 0),
    });
    throwIfAborted(signal);
    return {
      kind,
      documents: documentShares(prompt, passages),
      promptTokens: prompt.tokens,
      cachedTokens: forecast?.cachedTokens ?? null,
      ttftMs: forecast?.ms ?? null,
    };
  }
}
