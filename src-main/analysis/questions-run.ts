import type { QuestionBatch, Step } from '../../src-shared/contract/analysis.ts';
import type { Notice } from '../../src-shared/answer.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { conversationContext } from '../answering/context/conversation-context.ts';
import type { FoundPassage } from '../answering/passages.ts';
import { keyFor } from '../fusion/model.ts';
import { orderBatch, sharedChunks } from './batch-order.ts';
import type { AnalysisRun } from './analysis-run.ts';
import { inLanes } from './lanes.ts';

interface RetrievedQuestion {
  step: Step;
  passages: FoundPassage[];
  notices: readonly Notice[];
  /** Milliseconds spent on retrieval. */
  retrieveMs: number;
}

/**
 * Answers questions: retrieves the passages of all of them, then answers them in an order in which those that share chunks follow one
 * another, with the shared chunks in memory. A question that fails is stored with its failure; the others continue.
 */
export async function runQuestions(run: AnalysisRun, scope: QuestionBatch['scope']): Promise<void> {
  const { active, choices } = run;
  const open = run.steps('question').filter(({ state }) => state !== 'done');
  const asked: RetrievedQuestion[] = [];
  for (const step of open) asked.push(await find(run, step, scope));
  const tokenBytes = active.model.bytesPerToken(choices.dtype);
  const prompts = asked.map(({ passages }) =>
    passages.map(({ passage: { id }, tokens }) => ({ id, bytes: tokens.length * tokenBytes })),
  );
  const shared = sharedChunks(prompts);
  const places = new Map(asked.flatMap(({ passages }) => passages).map((found) => [found.passage.id, found]));
  const keys = [...shared].flatMap((id) => {
    const found = places.get(id);
    return found ? [keyFor(active.model, choices.dtype, found)] : [];
  });
  // A full prefill reads nothing from the store.
  if (choices.blends) await run.hold(keys);
  const order = orderBatch(prompts).flatMap((index) => asked[index] ?? []);
  await inLanes(order, active.model, (one, lane, left) => answer(run, one, lane, left));
}

function find(run: AnalysisRun, step: Step, scope: QuestionBatch['scope']): Promise<RetrievedQuestion> {
  const { maker, clock } = run.options;
  return run.work(async (signal) => {
    const started = clock.now();
    const { model } = run.active;
    const { choices } = run;
    const request = conversationContext({ model, question: step.question, scope, choices, signal });
    const { passages, notices } = await maker.choose(request);
    return { step, passages, notices, retrieveMs: clock.now() - started };
  });
}

/** Rethrows only errors that would end every other question, too. */
async function answer(
  run: AnalysisRun,
  { step, passages, notices: chosen, retrieveMs }: RetrievedQuestion,
  lane: number,
  left: number,
): Promise<void> {
  try {
    await run.take(step, left, (signal, live) =>
      run.ask(step.question, passages, { signal, live, lane, retrieveMs, begun: step.text, chosen }),
    );
  } catch (error) {
    const ends = error instanceof KvasirError && (error.code === 'ABORTED' || error.code === 'CONFLICT');
    if (ends) throw error;
  }
}
