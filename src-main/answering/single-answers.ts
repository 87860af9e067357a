import type { Answer, Notice, Source } from '../../src-shared/answer.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { AppendReport } from '../engine/engine.ts';
import { canBlend } from '../fusion/model.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import type { PassingAnswer } from '../fusion/watching/watch-service.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { Gate } from '../platform/gate.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { AnswerMaker, type AnswerMakerOptions, type MadeAnswer, type NamedModel } from './answer.ts';
import { choicesOf } from './choices.ts';
import { comparePrompt, type Compared, type CompareOptions } from './compare/compare.ts';
import { MissWriter } from './miss-writer.ts';
import { endingNotices } from './notices.ts';
import { PromptAssembler } from './prompt.ts';
import { passingAnswer } from './remade-prompt.ts';
import { SessionTokens } from './session-tokens.ts';
import { Stopwatch } from './stopwatch.ts';
import { unsupportedNotice } from './unsupported.ts';

interface SingleAnswersOptions extends NamedModel, Omit<AnswerMakerOptions, 'misses'> {
  settings: { readonly current: Settings };
  /** Called with what watching needs to make each answer again; undefined: the controller blended nothing. */
  watch?: (answer: PassingAnswer | undefined) => void;
  gate?: Gate;
  clock?: Clock;
  /** Called for failures that do not concern the answer, e.g. a miss that could not be stored. */
  onBackgroundError?: (error: unknown) => void;
}

export interface SingleRequest {
  question: string;
  strategy: StrategyOrAuto;
  /** Chunks in the prompt at most; absent: as many as suit their size. */
  topK?: number | undefined;
  /** Tokens of the answer at most. */
  maxTokens: number;
  /** Whether to ask the model even if no passage was found. */
  mayGuess?: boolean;
}

/** A question whose prompt is computed in several ways. */
type PromptComparison = Pick<SingleRequest, 'question' | 'topK'> &
  Pick<CompareOptions, 'strategies' | 'deep' | 'answerTokens' | 'signal' | 'onProgress'>;

interface SingleRun {
  signal?: AbortSignal | undefined;
  onNotice?: (notice: Notice) => void;
  /** More thinking text before the answer. */
  onThought?: (text: string) => void;
  /** More text of the answer. */
  onText?: (text: string) => void;
}

/** The answer, and the engine's report on its prompt. */
export interface Answered extends Answer {
  thinking: string;
  report: AppendReport;
}

const ANYWHERE = { libraryIds: [], documentIds: [] };

/** Answers single questions with one model, each in a separate session. */
export class SingleAnswers {
  readonly #options: SingleAnswersOptions;
  readonly #maker: AnswerMaker;
  readonly #misses: MissWriter;
  readonly #gate: Gate;
  readonly #clock: Clock;

  constructor(options: SingleAnswersOptions) {
    const { gate = new Gate(), clock = systemClock } = options;
    this.#options = options;
    this.#gate = gate;
    this.#clock = clock;
    this.#misses = new MissWriter({ ...options, gate });
    this.#maker = new AnswerMaker({ ...options, misses: this.#misses });
  }

  /** Resolves when misses and prefixes of earlier answers are stored. */
  async idle(): Promise<void> {
    await this.#misses.idle();
    await this.#options.prefixes?.idle();
  }

  /** Stops storing misses. */
  close(): Promise<void> {
    return this.#misses.stop();
  }

  /** NO_MATCH, QUESTION_TOO_LONG, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED. */
  answer(request: SingleRequest, run: SingleRun = {}): Promise<Answered> {
    return this.#gate.foreground(() => this.#answer(request, run), { shared: true });
  }

  /** Computes a question's prompt in several ways and compares them. Errors as answer(). */
  async compare({ question, topK, ...request }: PromptComparison): Promise<Compared> {
    const { model, name, store, planner, settings } = this.#options;
    const choices = choicesOf({}, settings.current, model, planner);
    const { contextTokens, dtype } = choices;
    const passages = await this.#maker.find(question, { scope: ANYWHERE, topK, signal: request.signal });
    const budget = { contextTokens, answerTokens: request.answerTokens };
    const prompt = new PromptAssembler(model, choices).assemble(question, passages, budget);
    return comparePrompt(prompt, {
      ...request,
      model,
      name,
      store,
      dtype,
      clock: this.#clock,
      answered: undefined,
      createSession: (capacity) => model.createSession(capacity),
      step: (work) => this.#gate.foreground(work),
    });
  }

  async #answer(asked: SingleRequest, run: SingleRun): Promise<Answered> {
    const { question, strategy, topK, maxTokens, mayGuess = false } = asked;
    const { model, name, planner, settings } = this.#options;
    const { signal } = run;
    const choices = choicesOf({ topK, maxTokens }, settings.current, model, planner);
    const stopwatch = new Stopwatch(this.#clock);
    const passages = await this.#maker.find(question, { scope: ANYWHERE, topK, signal });
    const retrieve = stopwatch.lap();
    const request = {
      model,
      name,
      question,
      passages,
      mayGuess,
      stopwatch,
      signal,
      before: { retrieve },
      onNotice: run.onNotice,
      onThought: run.onThought,
      onText: run.onText,
      // The same seed each time, so that an answer can be reproduced.
      choices: {
        ...choices,
        ...(canBlend(model) && { strategy }),
        sampling: { ...choices.sampling, seed: settings.current.sampling[model.path]?.seed ?? 0 },
      },
      requestClass: 'question',
    };
    const laidOut = this.#maker.layOut(request);
    const session = new SessionTokens(model.createSession(laidOut.need));
    try {
      const made = await this.#maker.make(request, laidOut, session);
      throwIfAborted(signal);
      this.#options.watch?.(passingAnswer(made.prompt, made.turn, made.stats, model));
      return answeredOf(question, made);
    } finally {
      session.dispose();
    }
  }
}

function answeredOf(
  question: string,
  { text, thought, notices, turn, stats, citations }: MadeAnswer,
): Answered {
  const ended = { text, thought, stop: turn.stop };
  const { ttftMs, fullPrefillMs, fullPrefillMeasured, tokensPerSecond } = stats;
  return {
    question,
    notices: [
      ...notices,
      ...endingNotices({ ...ended, stats }),
      ...unsupportedNotice(text, stats.unsupported),
    ],
    ttftMs,
    fullPrefillMs,
    fullPrefillMeasured,
    tokensPerSecond,
    report: turn.blended.report,
    answer: text,
    thinking: thought,
    stop: turn.stop,
    sources: citations.map(sourceOf),
    strategy: turn.decision.strategy,
    plan: turn.plan,
    prompt: turn.figures,
  };
}

function sourceOf({
  path,
  ordinal,
  title,
  text,
  score,
  reason,
  tier,
  tokens,
}: MadeAnswer['citations'][number]): Source {
  return {
    document: path,
    title,
    chunk: ordinal,
    text,
    score,
    tokens,
    reason: REASONS[reason] ?? reason,
    tier: tier === 'resident' ? 'ram' : tier, // a fresh session holds nothing before its only turn
  };
}

/** Why a passage is in a prompt, in words. */
const REASONS: Readonly<Record<string, string>> = {
  match: 'matches the question',
  'before-match': 'precedes a match',
  'after-match': 'follows a match',
  'leads-up': 'gives context before a match',
  'named-in-match': 'its document is named in a match',
  'match-and-neighbour': 'matches the question and is next to a match',
};
