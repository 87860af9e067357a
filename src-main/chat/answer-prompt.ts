import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { conversation } from '../answering/ask.ts';
import { contextLimit } from '../answering/choices.ts';
import type { PromptRequest } from '../answering/prompt.ts';
import type { ChatModel } from '../fusion/model.ts';
import { chunkOf, historyBefore } from './history.ts';
import type { MessageStore } from './messages.ts';
import type { MessageRecord, TurnContext } from './records.ts';

/** How an answer was asked for. */
interface AnswerPrompt {
  request: PromptRequest;
  question: string;
  stats: AnswerStats;
  context: TurnContext;
}

/** Rebuilds the prompt of an answer, together with the answer's numbers. CONFLICT when that is no longer possible. */
export function answerPrompt(
  answer: MessageRecord,
  model: ChatModel,
  messages: MessageStore,
  settings: Settings,
): AnswerPrompt {
  const { stats } = answer;
  const context = messages.context(answer.id);
  if (!stats || !context || context.fingerprint !== model.info.fingerprint) {
    throw new KvasirError(
      'CONFLICT',
      'This answer’s prompt can only be rebuilt with the model that made it.',
      'Choose that model again, or ask again.',
    );
  }
  const asked = messages.require(answer.parentId ?? -1);
  const { turns, turnsLeftOut } = historyBefore(asked, messages, model);
  const passages = context.chunks.map(({ citation, tokens, lead }) =>
    chunkOf(answer.citations[citation], { tokens: Int32Array.from(tokens), lead: Int32Array.from(lead) }),
  );
  const { systemPrompt = settings.systemPrompt, think = false, tools } = context;
  const contextTokens = contextLimit(model, settings.contextTokens);
  const how = {
    systemPrompt,
    think,
    contextTokens,
    maxTokens: 0,
    tools: tools && { tools, choice: 'none' as const, parallel: true },
  };
  const history = turns.slice(context.turnsLeftOut - turnsLeftOut);
  const request = conversation(asked.text, passages, how, history);
  return { request, question: asked.text, stats, context };
}
