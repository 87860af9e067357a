import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { blend } from '../fusion/blender.ts';
import type { Planner } from '../fusion/controller/planner.ts';
import type { ChunkCache } from '../fusion/model.ts';
import type { ChatModel } from './answerer.ts';
import { historyBefore } from './history.ts';
import { contextLimit } from './limits.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { MessageStore } from './messages.ts';
import { PromptAssembler } from './prompt.ts';
import type { MessageRecord } from './records.ts';
import { partsFrom } from './resident.ts';
import type { ResidentSessions } from './resident-sessions.ts';

export interface FullPrefillOptions {
  model: ChatModel;
  store: ChunkCache;
  messages: MessageStore;
  sessions: ResidentSessions;
  planner: Planner;
  settings: Settings;
  live: LiveAnswer;
}

/**
 * Computes an answer's whole prompt in a session of its own, and puts the time in the place of the estimate.
 * CONFLICT when the prompt can no longer be made as it was, ABORTED, OUT_OF_MEMORY.
 */
export async function measureFullPrefill(
  answer: MessageRecord,
  options: FullPrefillOptions,
): Promise<AnswerStats> {
  const { messages, sessions, planner, store, settings, live } = options;
  const { model } = options.model;
  const context = messages.context(answer.id);
  if (!answer.stats || !context || context.fingerprint !== model.info.fingerprint) {
    throw new KvasirError(
      'CONFLICT',
      'The prompt of this answer can only be measured with the model that made it.',
      'Choose that model again, or ask again.',
    );
  }
  const question = messages.require(answer.parentId ?? -1);
  const { turns, turnsLeftOut } = historyBefore(question, messages, model);
  const offered = context.chunks.map(({ tokens }) => ({ tokens: Int32Array.from(tokens), score: 0 }));
  const contextTokens = contextLimit(model, settings.contextTokens);
  const budget = { contextTokens, answerTokens: 0 };
  const history = turns.slice(context.turnsLeftOut - turnsLeftOut);
  const prompt = new PromptAssembler(model, settings.systemPrompt).assemble(
    question.text,
    offered,
    budget,
    history,
  );

  const session = sessions.borrow(model, prompt.tokens);
  try {
    const wish = { kind: 'full' } as const;
    const plan = planner.plan(partsFrom(prompt.parts, 0), { model, dtype: settings.dtype, past: 0, wish });
    const blended = await blend(plan.parts, {
      ...{ model, store, session },
      dtype: settings.dtype,
      strategy: wish,
      signal: live.signal,
      onProgress: (progress) => live.progress(progress),
    });
    planner.done(plan, blended);
    const measured = { fullPrefillMs: blended.report.totalMs, fullPrefillMeasured: true };
    const stats = { ...answer.stats, ...measured };
    messages.saveStats(answer.id, stats);
    const kept = messages.report(answer.id);
    if (kept) messages.saveReport(answer.id, { ...kept, ...measured });
    return stats;
  } finally {
    session.dispose();
  }
}
