import type { Answer, Notice, Source } from '../../src-shared/answer.ts';
import type { AppendReport, KvDtype, Progress, Sampling } from '../engine/engine.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import type { Catalogue, ChunkRow } from '../catalogue/catalogue.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { Gate } from '../platform/gate.ts';
import { REASONS, retrieve, type Retrieved } from '../retrieval/retriever.ts';
import type { SearchIndex } from '../retrieval/search-index.ts';
import { fullPrefillOf } from './stats.ts';
import { comparePrompt, type Compared, type CompareOptions } from './compare/compare.ts';
import { contextLimit } from './limits.ts';
import { MissWriter } from './miss-writer.ts';
import { fallbackNotice, promptNotices, quarantineNotice } from './notices.ts';
import { PromptAssembler, type Prompt } from './prompt.ts';
import { headOf, Resident } from './session-tokens.ts';
import { Stopwatch } from './stopwatch.ts';
import { runTurn, type PartTiers, type TurnResult } from './turn.ts';

export interface AnswerServiceOptions {
  model: FusionModel;
  store: ChunkCache;
  catalogue: Pick<Catalogue, 'chunk'>;
  index: SearchIndex;
  planner: Planner;
  prefixes: StoredPrefixes;
  dtype: KvDtype;
  /** Tokens of prompt and answer at most; the model's own limit applies too. */
  contextTokens: number;
  systemPrompt?: string;
  /** Whether misses are stored after the answer. */
  storeMisses?: boolean;
  gate?: Gate;
  clock?: Clock;
  /** Told about failures that do not concern the answer, e.g. a miss that could not be stored. */
  onBackgroundError?: (error: unknown) => void;
}

export interface AnswerRequest {
  question: string;
  strategy: StrategyOrAuto;
  /** Chunks in the prompt at most. */
  topK: number;
  /** Tokens of the answer at most. */
  maxTokens: number;
  sampling?: Partial<Sampling>;
}

/** A question whose prompt is made in several ways. */
export type PromptComparison = Pick<AnswerRequest, 'question' | 'topK'> &
  Pick<CompareOptions, 'strategies' | 'deep' | 'answerTokens' | 'signal' | 'onProgress'>;

export type AnswerEvent =
  | { type: 'sources'; sources: Source[] }
  | { type: 'notice'; notice: Notice }
  /** Prompt processing. */
  | { type: 'progress'; progress: Progress }
  /** More of the answer. */
  | { type: 'text'; text: string };

export interface AnswerRun {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: AnswerEvent) => void) | undefined;
}

/** The answer, and what the engine reported of making its prompt. */
export interface Answered extends Answer {
  report: AppendReport;
}

interface PromptChunk extends Retrieved {
  row: ChunkRow;
  tokens: Int32Array;
}

/** Answers single questions from one library with one model, each in a session of its own (the command line). */
export class AnswerService {
  readonly #options: AnswerServiceOptions;
  readonly #assembler: PromptAssembler;
  readonly #gate: Gate;
  readonly #misses: MissWriter;
  readonly #contextTokens: number;

  constructor(options: AnswerServiceOptions) {
    this.#options = options;
    this.#assembler = new PromptAssembler(options.model, options.systemPrompt);
    this.#gate = options.gate ?? new Gate();
    this.#misses = new MissWriter({ ...options, gate: this.#gate });
    this.#contextTokens = contextLimit(options.model, options.contextTokens);
  }

  /** Resolves when misses and prefixes of earlier answers are stored. */
  async idle(): Promise<void> {
    await this.#misses.idle();
    await this.#options.prefixes.idle();
  }

  /** Stops storing misses. */
  close(): Promise<void> {
    return this.#misses.stop();
  }

  /** QUESTION_TOO_LONG, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED. */
  answer(request: AnswerRequest, run: AnswerRun = {}): Promise<Answered> {
    return this.#gate.foreground(() => this.#answer(request, run));
  }

  /** Makes a question's prompt in several ways, one beside the other. As answer(). */
  compare(request: PromptComparison): Promise<Compared> {
    const { model, clock = systemClock } = this.#options;
    const { question, topK, answerTokens } = request;
    const budget = { contextTokens: this.#contextTokens, answerTokens };
    const prompt = this.#assembler.assemble(question, this.#retrieve({ question, topK }), budget);
    return comparePrompt(prompt.parts, {
      ...this.#options,
      ...request,
      ...{ name: model.info.name, answered: undefined, clock },
      createSession: (capacity) => model.createSession(capacity),
      step: (work) => this.#gate.foreground(work),
    });
  }

  async #answer(request: AnswerRequest, run: AnswerRun): Promise<Answered> {
    throwIfAborted(run.signal);
    const stopwatch = new Stopwatch(this.#options.clock ?? systemClock);
    const found = this.#retrieve(request);
    const retrieveMs = stopwatch.lap();
    const budget = { contextTokens: this.#contextTokens, answerTokens: request.maxTokens };
    const prompt = this.#assembler.assemble(request.question, found, budget);
    const before = { retrieve: retrieveMs, assemble: stopwatch.lap() };
    const name = ({ row }: PromptChunk): string => `${row.path} (part ${row.ordinal + 1})`;
    const notices = promptNotices(prompt, { contextTokens: this.#contextTokens, name });
    for (const notice of notices) run.onEvent?.({ type: 'notice', notice });
    const capacity = Math.min(this.#contextTokens, prompt.tokens + request.maxTokens);
    const resident = new Resident(this.#options.model.createSession(capacity));
    try {
      const { text, turn } = await this.#turn(prompt, resident, { request, run, stopwatch, before });
      throwIfAborted(run.signal);
      const { quarantined } = turn.blended;
      const fallback = fallbackNotice(turn.decision);
      const later = [
        ...(fallback ? [fallback] : []),
        ...(quarantined.length > 0 ? [quarantineNotice(quarantined.length)] : []),
      ];
      for (const notice of later) run.onEvent?.({ type: 'notice', notice });
      notices.push(...later);
      this.#storeMisses(prompt, request);
      this.#options.prefixes.keep(this.#options.model, headOf(prompt.parts));
      const { model, planner } = this.#options;
      const fullPrefill = fullPrefillOf({ prompt, turn, model }, planner.costs);
      return { ...answered({ request, text, prompt, notices, turn }), ...fullPrefill };
    } finally {
      resident.dispose();
    }
  }

  async #turn(
    prompt: Prompt<PromptChunk>,
    resident: Resident,
    options: {
      request: AnswerRequest;
      run: AnswerRun;
      stopwatch: Stopwatch;
      before: { retrieve: number; assemble: number };
    },
  ): Promise<{ text: string; turn: TurnResult }> {
    const { request, run, stopwatch, before } = options;
    let text = '';
    const turn = await runTurn(prompt, resident, {
      ...this.#options,
      ...request,
      strategy: request.strategy,
      stopwatch,
      before,
      signal: run.signal,
      onProgress: run.onEvent && ((progress) => run.onEvent?.({ type: 'progress', progress })),
      onPlaced: (tiers) => run.onEvent?.({ type: 'sources', sources: sourcesOf(prompt, tiers) }),
      onText: (more) => {
        text += more;
        run.onEvent?.({ type: 'text', text: more });
      },
    });
    return { text: text.trimEnd(), turn };
  }

  #retrieve({ question, topK }: Pick<AnswerRequest, 'question' | 'topK'>): PromptChunk[] {
    return retrieve(this.#options.index, question, topK).flatMap((found) => {
      const row = this.#options.catalogue.chunk(found.chunkId);
      return row ? [{ ...found, row, tokens: row.tokens }] : [];
    });
  }

  #storeMisses(prompt: Prompt<PromptChunk>, { strategy }: AnswerRequest): void {
    // A full prefill is the baseline that blending is compared with: it leaves no trace.
    if (this.#options.storeMisses === false || strategy.kind === 'full') return;
    const { model, dtype, store } = this.#options;
    const misses = prompt.cited.filter(({ chunk }) => !store.has(keyFor(model, dtype, chunk.tokens)));
    this.#misses.write(
      model,
      misses.map(({ chunk: { row, tokens } }) => ({ tokens, dtype, label: row.path })),
    );
  }
}

function answered(parts: {
  request: AnswerRequest;
  text: string;
  prompt: Prompt<PromptChunk>;
  notices: Notice[];
  turn: TurnResult;
}): Omit<Answered, 'fullPrefillMs' | 'fullPrefillMeasured'> {
  const { request, prompt, turn } = parts;
  const { report } = turn.blended;
  const { prefixTokens, restoredTokens } = turn;
  const { tokens, reusableTokens, recomputedTokens, bytesLoaded } = report;
  return {
    question: request.question,
    answer: parts.text,
    stop: turn.stop,
    sources: sourcesOf(prompt, turn.tiers),
    notices: parts.notices,
    ttftMs: turn.ttftMs,
    tokensPerSecond: turn.tokensPerSecond,
    strategy: turn.decision.strategy,
    plan: turn.plan,
    prompt: { tokens, reusableTokens, recomputedTokens, bytesLoaded, prefixTokens, restoredTokens },
    report,
  };
}

function sourcesOf(prompt: Prompt<PromptChunk>, tiers: PartTiers): Source[] {
  return prompt.cited.map(({ chunk: { row, score, reason, tokens }, part }) => {
    const tier = tiers.get(part) ?? 'computed';
    return {
      document: row.path,
      title: row.title,
      chunk: row.ordinal,
      text: row.text,
      score,
      reason: REASONS[reason],
      tier: tier === 'resident' ? 'ram' : tier, // a session of its own holds nothing before its only turn
      tokens: tokens.length,
    };
  });
}
