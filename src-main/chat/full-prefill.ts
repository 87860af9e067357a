import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { blend } from '../fusion/blender.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { ChunkCache, FusionModel } from '../fusion/model.ts';
import { answerPrompt } from './answer-prompt.ts';
import { tokenPrompt } from '../answering/backends/token-prompt.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { MessageStore } from './messages.ts';
import type { MessageRecord } from './records.ts';
import { partsFrom } from '../answering/session-tokens.ts';
import type { ConversationSessions } from './sessions.ts';

interface FullPrefillOptions {
  model: FusionModel;
  store: ChunkCache;
  messages: MessageStore;
  sessions: ConversationSessions;
  planner: Planner;
  settings: Settings;
  live: LiveAnswer;
}

/**
 * Computes an answer's whole prompt in a separate session and replaces the estimated time with the measured one. CONFLICT when the prompt
 * can no longer be reproduced, ABORTED, OUT_OF_MEMORY.
 */
export async function measureFullPrefill(
  answer: MessageRecord,
  options: FullPrefillOptions,
): Promise<AnswerStats> {
  const { model, messages, sessions, planner, store, settings, live } = options;
  const { request, stats: before } = answerPrompt(answer, model, messages, settings);
  const prompt = tokenPrompt(model, request);
  const session = sessions.borrow(model, prompt.tokens);
  try {
    const strategy = { kind: 'full' } as const;
    const plan = await planner.plan(partsFrom(prompt.parts, 0), {
      model,
      dtype: settings.dtype,
      past: 0,
      strategy,
    });
    const blended = await blend(plan.parts, {
      model,
      store,
      session,
      dtype: settings.dtype,
      strategy,
      signal: live.signal,
      onProgress: (progress) => live.progress(progress),
    });
    planner.done(plan, blended);
    const measured = { fullPrefillMs: blended.report.totalMs, fullPrefillMeasured: true };
    const stats = { ...before, ...measured };
    messages.saveStats(answer.id, stats);
    const kept = messages.report(answer.id);
    if (kept) messages.saveReport(answer.id, { ...kept, ...measured });
    return stats;
  } finally {
    session.dispose();
  }
}
