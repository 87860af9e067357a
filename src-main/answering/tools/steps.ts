import { isAborted } from '../../platform/abort.ts';
import type { Ask } from '../ask.ts';
import type { AnswerEvent, AnswerParts, Backend, Turn } from '../backends/backend.ts';
import { answerReserve } from '../choices.ts';
import type { Prompt } from '../prompt.ts';
import { addCallDelta, type ToolCall, type ToolChoice } from '../tools.ts';
import { grammarFor } from './tool-answers.ts';

/** Steps of an answer at most; the last one calls nothing. */
export const MOST_STEPS = 8;
/** Tokens of the template around a result. */
const FRAME_TOKENS = 48;
/** Fewer tokens hold no useful result. */
const LEAST_RESULT_TOKENS = 32;

/** An answer, made in one step or in several with results of tools between them. */
interface StepsTurn extends Turn {
  /** All that the model read for it. */
  read: Prompt;
  steps: number;
}

/**
 * Makes an answer that may call tools: while it does, runs the calls and lets the model go on with their results. The numbers of the prompt are those of
 * the first step. As Backend.turn; when stopped after the first step, it resolves with what there is.
 */
export async function* takeSteps(
  ask: Ask,
  first: Prompt,
  backend: Backend,
  parts: AnswerParts,
): AsyncGenerator<AnswerEvent, StepsTurn, void> {
  const turns: Turn[] = [];
  let prompt = first;
  for (;;) {
    try {
      const { length } = turns;
      const choice = length + 1 === MOST_STEPS ? 'none' : length > 0 ? 'auto' : undefined;
      const calls: ToolCall[] = [];
      const turn = yield* stepEvents(backend.turn(stepAsk(ask, choice), prompt, parts), { turns, calls });
      turns.push(turn);
      const isLast = turns.length === MOST_STEPS;
      if (!ask.runCalls || isLast || calls.length === 0 || turn.stop !== 'eos') return joined(turns, prompt);
      const room = roomFor(calls, turn, { ask, prompt });
      if (room < LEAST_RESULT_TOKENS) return { ...joined(turns, prompt), stop: 'context' };
      const results = await ask.runCalls(calls, room);
      prompt = backend.followUp(prompt, { turn, calls, results }, ask);
    } catch (error) {
      if (turns.length === 0 || !isAborted(error)) throw error;
      return { ...joined(turns, prompt), stop: 'aborted' };
    }
  }
}

/** `choice`: instead of the request's. The calls that a loop runs are held to their schemas. */
function stepAsk(ask: Ask, choice: ToolChoice | undefined): Ask {
  const { tools: request, choices } = ask;
  if (!ask.runCalls || !request) return ask;
  const tools = choice === undefined ? request : { ...request, choice };
  const grammar = grammarFor(tools, ask, { answer: undefined, think: choices.think });
  const sampling = { ...choices.sampling, ...(grammar !== undefined && { grammar, repeatPenalty: 1 }) };
  return { ...ask, tools, choices: { ...choices, sampling } };
}

async function* stepEvents(
  events: AsyncGenerator<AnswerEvent, Turn, void>,
  { turns, calls }: { turns: readonly Turn[]; calls: ToolCall[] },
): AsyncGenerator<AnswerEvent, Turn, void> {
  const thoughts = turns.reduce((sum, turn) => sum + turn.tokensBefore, 0);
  const gaps = { text: gapAfter(turns, 'text'), thought: gapAfter(turns, 'thought') };
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      const event = next.value;
      if (event.kind === 'call') addCallDelta(calls, event.call);
      if (event.kind === 'text' || event.kind === 'thought') {
        const text = gaps[event.kind] + event.text;
        gaps[event.kind] = '';
        if (event.kind === 'thought') yield { ...event, text, tokens: thoughts + event.tokens };
        else yield { ...event, text };
      } else if (turns.length === 0 || !OF_FIRST_STEP.has(event.kind)) yield event;
    }
  } finally {
    // A reader that stops early ends the step.
    await events.return(undefined as never);
  }
}

/** Later steps have the same passages. */
const OF_FIRST_STEP: ReadonlySet<AnswerEvent['kind']> = new Set(['begun', 'placed', 'prompt']);

const GAP = '\n\n';

function gapAfter(turns: readonly Turn[], kind: 'text' | 'thought'): string {
  return turns.some((turn) => turn[kind] !== '') ? GAP : '';
}

/** Tokens for each result. */
function roomFor(
  calls: readonly ToolCall[],
  { stats: { answerTokens } }: Turn,
  { ask: { choices }, prompt }: { ask: Ask; prompt: Prompt },
): number {
  const room = choices.contextTokens - prompt.tokens - answerTokens - answerReserve(choices);
  return Math.floor(room / calls.length) - FRAME_TOKENS;
}

/** The turns of all steps as one. */
function joined(turns: readonly Turn[], read: Prompt): StepsTurn {
  const [first, last] = [turns[0], turns.at(-1)] as [Turn, Turn];
  if (turns.length === 1) return { ...first, read, steps: 1 };
  const sum = (count: (turn: Turn) => number): number => turns.reduce((all, turn) => all + count(turn), 0);
  const text = (kind: 'text' | 'thought'): string =>
    turns.flatMap((turn) => (turn[kind] === '' ? [] : [turn[kind]])).join(GAP);
  const answerTokens = sum(({ stats }) => stats.answerTokens);
  const seconds = sum(({ stats }) =>
    stats.tokensPerSecond > 0 ? stats.answerTokens / stats.tokensPerSecond : 0,
  );
  const drafts = {
    drafted: sum(({ stats }) => stats.drafts?.drafted ?? 0),
    accepted: sum(({ stats }) => stats.drafts?.accepted ?? 0),
  };
  return {
    ...first,
    thought: text('thought'),
    text: text('text'),
    stop: last.stop,
    notices: turns.flatMap(({ notices }) => notices),
    stats: {
      ...first.stats,
      answerTokens,
      tokensPerSecond: seconds > 0 ? answerTokens / seconds : 0,
      ...(drafts.drafted > 0 && { drafts }),
    },
    read,
    steps: turns.length,
  };
}
