import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { FusionModel } from '../fusion/model.ts';
import { historyBefore, sourceOf } from './history.ts';
import { contextLimit } from '../answering/limits.ts';
import type { MessageStore } from './messages.ts';
import { PromptAssembler, type Offered, type Prompt } from '../answering/prompt.ts';
import type { MessageRecord, TurnContext } from './records.ts';

/** Rebuilds the prompt of an answer, together with the answer's numbers. CONFLICT when that is no longer possible. */
export function answerPrompt(
  answer: MessageRecord,
  model: FusionModel,
  messages: MessageStore,
  settings: Settings,
): { prompt: Prompt<Offered>; stats: AnswerStats; context: TurnContext } {
  const { stats } = answer;
  const context = messages.context(answer.id);
  if (!stats || !context || context.fingerprint !== model.info.fingerprint) {
    throw new KvasirError(
      'CONFLICT',
      'This answer’s prompt can only be rebuilt with the model that made it.',
      'Choose that model again, or ask again.',
    );
  }
  const question = messages.require(answer.parentId ?? -1);
  const { turns, turnsLeftOut } = historyBefore(question, messages, model);
  const offered = context.chunks.map(({ citation, tokens, lead }) => {
    const cited = answer.citations[citation];
    const ids = { tokens: Int32Array.from(tokens), lead: Int32Array.from(lead) };
    return { ...ids, score: 0, source: cited && sourceOf(cited) };
  });
  const budget = { contextTokens: contextLimit(model, settings.contextTokens), answerTokens: 0 };
  const history = turns.slice(context.turnsLeftOut - turnsLeftOut);
  const { systemPrompt = settings.systemPrompt, think } = context;
  const assembler = new PromptAssembler(model, { systemPrompt, think });
  return { prompt: assembler.assemble(question.text, offered, budget, history), stats, context };
}
