import type { Answer, Notice, Source, Ttft } from '../../src-shared/answer.ts';
import type { AppendReport, KvDtype, Progress, Sampling, Strategy } from '../engine/engine.ts';
import { blend, type BlendResult } from '../fusion/blender.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../fusion/model.ts';
import type { Catalogue, ChunkRow } from '../library/catalogue.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { retrieve, type Retrieved } from '../retrieval/retriever.ts';
import type { SearchIndex } from '../retrieval/search-index.ts';
import { MissWriter } from './miss-writer.ts';
import { PromptAssembler, type Prompt } from './prompt.ts';
import { StreamDetokenizer } from './detokenizer.ts';

export interface AnswerServiceOptions {
  model: FusionModel;
  store: ChunkCache;
  catalogue: Pick<Catalogue, 'chunk'>;
  index: SearchIndex;
  dtype: KvDtype;
  /** Tokens of prompt and answer at most; the model's own limit applies too. */
  contextTokens: number;
  systemPrompt?: string;
  /** Whether misses are stored after the answer. */
  storeMisses?: boolean;
  clock?: Clock;
  /** Told about failures that do not concern the answer, e.g. a miss that could not be stored. */
  onBackgroundError?: (error: unknown) => void;
}

export interface AnswerRequest {
  question: string;
  strategy: Strategy;
  /** Chunks in the prompt at most. */
  topK: number;
  /** Tokens of the answer at most. */
  maxTokens: number;
  sampling?: Partial<Sampling>;
}

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

/** Answers questions from one library with one model: retrieve, assemble, blend, generate. */
export class AnswerService {
  readonly #options: AnswerServiceOptions;
  readonly #assembler: PromptAssembler;
  readonly #misses: MissWriter;
  readonly #clock: Clock;
  readonly #contextTokens: number;

  constructor(options: AnswerServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#assembler = new PromptAssembler(options.model, options.systemPrompt);
    this.#misses = new MissWriter(options);
    const trained = options.model.info.contextTrain;
    this.#contextTokens = trained > 0 ? Math.min(trained, options.contextTokens) : options.contextTokens;
  }

  /** Resolves when misses of earlier answers are stored. */
  idle(): Promise<void> {
    return this.#misses.idle();
  }

  /** Stops storing misses. */
  close(): Promise<void> {
    return this.#misses.stop();
  }

  /** QUESTION_TOO_LONG, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED. */
  async answer(request: AnswerRequest, run: AnswerRun = {}): Promise<Answered> {
    await this.#misses.stop();
    throwIfAborted(run.signal);
    const stopwatch = new Stopwatch(this.#clock);
    const found = this.#retrieve(request);
    const retrieveMs = stopwatch.lap();
    const budget = { contextTokens: this.#contextTokens, answerTokens: request.maxTokens };
    const prompt = this.#assembler.assemble(request.question, found, budget);
    const assembleMs = stopwatch.lap();
    const notices = this.#noticesBefore(prompt);
    for (const notice of notices) run.onEvent?.({ type: 'notice', notice });

    const session = this.#options.model.createSession(
      Math.min(this.#contextTokens, prompt.tokens + request.maxTokens),
    );
    try {
      const blended = await this.#blend(prompt, session, request, run);
      const sources = prompt.chunks.map((chunk, i) => sourceOf(chunk, blended.outcomes[i] ?? 'computed'));
      run.onEvent?.({ type: 'sources', sources });
      notices.push(...this.#noticesAfter(blended, run));
      stopwatch.lap();
      const generated = await this.#generate(session, request, run, stopwatch);
      if (request.strategy.kind !== 'full') this.#storeMisses(prompt, blended);
      return {
        question: request.question,
        ...generated.result,
        sources,
        notices,
        ttftMs: ttftOf(blended, { retrieve: retrieveMs, assemble: assembleMs, ...generated.times }),
        strategy: request.strategy,
        prompt: promptFacts(blended.report),
        report: blended.report,
      };
    } finally {
      session.dispose();
    }
  }

  #retrieve({ question, topK }: AnswerRequest): PromptChunk[] {
    return retrieve(this.#options.index, question, topK).flatMap((found) => {
      const row = this.#options.catalogue.chunk(found.chunkId);
      return row ? [{ ...found, row, tokens: row.tokens }] : [];
    });
  }

  #blend(
    prompt: Prompt<PromptChunk>,
    session: FusionSession,
    request: AnswerRequest,
    run: AnswerRun,
  ): Promise<BlendResult> {
    const { model, store, dtype } = this.#options;
    const onProgress = (progress: Progress): void => run.onEvent?.({ type: 'progress', progress });
    return blend(prompt.parts, {
      model,
      store,
      session,
      dtype,
      strategy: request.strategy,
      clock: this.#clock,
      signal: run.signal,
      ...(run.onEvent && { onProgress }),
    });
  }

  async #generate(session: FusionSession, request: AnswerRequest, run: AnswerRun, stopwatch: Stopwatch) {
    const { model } = this.#options;
    const detokenizer = new StreamDetokenizer((tokens) => model.detokenize(tokens));
    let answer = '';
    let firstTokenAt: number | undefined;
    const show = (text: string): void => {
      const shown = answer === '' ? text.trimStart() : text; // the space that belongs to the prompt's last word
      answer += shown;
      if (shown !== '') run.onEvent?.({ type: 'text', text: shown });
    };
    const { tokens, stop, ms } = await session.generate({
      maxTokens: Math.min(request.maxTokens, session.capacity - session.length),
      signal: run.signal,
      ...(request.sampling && { sampling: request.sampling }),
      onToken: (token) => {
        firstTokenAt ??= this.#clock.now();
        show(detokenizer.push(token));
      },
    });
    show(detokenizer.flush());
    throwIfAborted(run.signal);
    firstTokenAt ??= this.#clock.now();
    return {
      result: { answer: answer.trimEnd(), stop, tokensPerSecond: ms > 0 ? (tokens.length * 1000) / ms : 0 },
      times: { firstToken: firstTokenAt - stopwatch.lapStart, total: firstTokenAt - stopwatch.start },
    };
  }

  #noticesBefore(prompt: Prompt<PromptChunk>): Notice[] {
    const notices: Notice[] = [];
    const { plainBecause } = this.#assembler.frame;
    if (plainBecause !== undefined) notices.push({ kind: 'plain-prompt', message: plainBecause });
    if (prompt.chunks.length + prompt.leftOut.length === 0) {
      const message =
        "No document matches the question: this answer is the model's own and rests on none of your documents.";
      notices.push({ kind: 'no-match', message });
    }
    if (prompt.leftOut.length > 0)
      notices.push({ kind: 'left-out', message: leftOutMessage(prompt, this.#contextTokens) });
    return notices;
  }

  #noticesAfter({ quarantined }: BlendResult, run: AnswerRun): Notice[] {
    if (quarantined.length === 0) return [];
    const message = `The cached KV of ${plural(quarantined.length, 'chunk')} was damaged: it was set aside and computed again for this answer.`;
    const notice: Notice = { kind: 'quarantined', message };
    run.onEvent?.({ type: 'notice', notice });
    return [notice];
  }

  #storeMisses(prompt: Prompt<PromptChunk>, { outcomes }: BlendResult): void {
    if (this.#options.storeMisses === false) return;
    this.#misses.write(
      prompt.chunks
        .filter((_, i) => outcomes[i] === 'computed')
        .map(({ tokens, row }) => ({ tokens, label: row.path })),
    );
  }
}

/** Time since the start, and since the last lap. */
class Stopwatch {
  readonly start: number;
  lapStart: number;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.start = clock.now();
    this.lapStart = this.start;
  }

  lap(): number {
    const now = this.#clock.now();
    const elapsed = now - this.lapStart;
    this.lapStart = now;
    return elapsed;
  }
}

function sourceOf({ row, score, reason, tokens }: PromptChunk, tier: Source['tier']): Source {
  return {
    document: row.path,
    title: row.title,
    chunk: row.ordinal,
    text: row.text,
    score,
    reason,
    tier,
    tokens: tokens.length,
  };
}

function ttftOf(
  { report: { stages }, acquireMs }: BlendResult,
  times: Pick<Ttft, 'retrieve' | 'assemble' | 'firstToken' | 'total'>,
): Ttft {
  const parts = {
    retrieve: times.retrieve,
    assemble: times.assemble,
    acquire: acquireMs,
    load: stages.loadWait,
    place: stages.place,
    check: stages.check + stages.select,
    recompute: stages.compute + stages.head,
    firstToken: times.firstToken,
  };
  const known = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { total: times.total, ...parts, other: Math.max(0, times.total - known) };
}

function promptFacts(report: AppendReport): Answer['prompt'] {
  const { tokens, reusableTokens, recomputedTokens, bytesLoaded } = report;
  return { tokens, reusableTokens, recomputedTokens, bytesLoaded };
}

function leftOutMessage({ leftOut }: Prompt<PromptChunk>, contextTokens: number): string {
  const names = leftOut.map(({ row }) => `${row.path} (part ${row.ordinal + 1})`).join(', ');
  return `The context of ${contextTokens} tokens cannot hold all matches; left out: ${names}.`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
