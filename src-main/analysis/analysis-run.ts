import type { Notice } from '../../src-shared/answer.ts';
import type { Step } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { readAnswer, type AnswerMaker } from '../answering/answer.ts';
import { conversation } from '../answering/ask.ts';
import { requireLocal } from '../answering/backends/backend-of.ts';
import type { AnswerChoices } from '../answering/choices.ts';
import { encodeMissing } from '../answering/encode-missing.ts';
import { cutOffNotice, endingNotices } from '../answering/notices.ts';
import type { FoundPassage, Passages } from '../answering/passages.ts';
import { unsupportedNotice } from '../answering/unsupported.ts';
import { Stopwatch } from '../answering/stopwatch.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { ChunkCache } from '../fusion/model.ts';
import type { ChunkStore, LeaseSet } from '../kvstore/store.ts';
import { isAborted, throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import { failureOf, traceOf } from '../platform/failure.ts';
import type { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import type { Retrieval } from '../retrieval/types.ts';
import type { AnalysisRow, AnalysisTable, StepResult } from './analysis-table.ts';
import type { AnalysisModel, Documents } from './library-documents.ts';
import type { AnalysisSessions } from './session.ts';
import { sourceOf } from './step-source.ts';
import type { RunningAnalysis, RunningStep } from './running-analysis.ts';

/** The source of an analysis's model; src-main/models/ implements it. */
export interface AnalysisModels {
  current(): Promise<AnalysisModel>;
  readonly active: AnalysisModel | undefined;
}

export type AnalysisStore = ChunkCache & Pick<ChunkStore, 'acquireMany'>;

interface AnalysisRunOptions {
  models: AnalysisModels;
  retrieval: Retrieval;
  passages: Passages;
  documents: Documents;
  store: AnalysisStore;
  planner: Planner;
  table: AnalysisTable;
  maker: AnswerMaker;
  /** One per lane (see lanes.ts). */
  sessions: AnalysisSessions;
  gate: Gate;
  log: Logger;
  clock: Clock;
}

interface StepContext {
  signal: AbortSignal;
  live: RunningStep;
  /** The lane whose session computes the step. Default: the first. */
  lane?: number;
  /** Milliseconds spent on retrieval. */
  retrieveMs?: number;
  /** The part of its answer that already exists, to be continued. */
  begun?: string;
  /** Notices on the choice of its passages. */
  chosen?: readonly Notice[];
  /** Whether the question needs no passages. */
  mayGuess?: boolean;
}

/** One run of an analysis: its model, its choices, and the single way to run a step. */
export class AnalysisRun {
  readonly row: AnalysisRow;
  readonly live: RunningAnalysis;
  readonly active: AnalysisModel;
  readonly choices: AnswerChoices;
  readonly options: AnalysisRunOptions;
  #held: LeaseSet | undefined;
  readonly #attempts = new Set<Promise<unknown>>();

  constructor(parts: Pick<AnalysisRun, 'row' | 'live' | 'active' | 'choices' | 'options'>) {
    this.row = parts.row;
    this.live = parts.live;
    this.active = parts.active;
    this.choices = parts.choices;
    this.options = parts.options;
  }

  get signal(): AbortSignal {
    return this.live.signal;
  }

  steps(kind: Step['kind']): Step[] {
    return this.options.table.steps(this.row.id).filter((step) => step.kind === kind);
  }

  /** Runs work with the model that belongs to no step, such as retrieval. ABORTED; CONFLICT when the model changed. */
  work<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.options.gate.job((signal) => {
      throwIfAborted(signal);
      this.#requireModel();
      const attempt = work(signal);
      const ended: Promise<unknown> = attempt
        .catch(() => undefined)
        .finally(() => this.#attempts.delete(ended));
      this.#attempts.add(ended);
      return attempt;
    }, this.signal);
  }

  /** Loads chunks that several steps need into memory, as far as its budget allows, and keeps them there until the end. ABORTED. */
  async hold(keys: readonly string[]): Promise<void> {
    const { store } = this.options;
    await this.work(async (signal) => {
      this.#held?.release();
      this.#held = await store.acquireMany(keys, requireLocal(this.active), signal);
    });
  }

  /** Call after the run has ended or was interrupted: releases all memory held for the model. */
  async release(): Promise<void> {
    await Promise.all(this.#attempts);
    this.#held?.release();
    this.#held = undefined;
    this.options.sessions.release();
  }

  /**
   * Runs a step and stores its result. `left` counts the steps still to run, this one included. A question that arrives meanwhile goes
   * first, and the step starts over. Failures other than ABORTED are stored with the step and thrown.
   */
  async take(
    step: Step,
    left: number,
    make: (signal: AbortSignal, live: RunningStep) => Promise<StepResult>,
  ): Promise<void> {
    const { table, log } = this.options;
    const id = Number(step.id);
    const live = this.live.begin(id, left);
    let done = false;
    try {
      const result = await this.work((signal) => {
        live.restart();
        return make(signal, live);
      });
      done = true;
      table.finishStep(id, result, this.live.end(live, done));
    } catch (error) {
      if (!done) this.live.end(live, done);
      if (isAborted(error)) throw error;
      if (!(error instanceof KvasirError)) log.error('analysis-step-failed', { error: traceOf(error) });
      table.failStep(id, failureOf(error));
      throw error;
    }
  }

  /** Sends the model a question with passages before it; chunks that the store lacks are computed and stored first. */
  async ask(
    question: string,
    passages: readonly FoundPassage[],
    { signal, live, lane = 0, retrieveMs = 0, begun = '', mayGuess = false, chosen }: StepContext,
  ): Promise<StepResult> {
    const { active, choices, options } = this;
    const { model } = active;
    const { store, planner, clock, log, maker, sessions } = options;
    const session = sessions.of(lane);
    const encoded = choices.blends
      ? await encodeMissing(passages, {
          model: requireLocal(active),
          store,
          choices,
          costs: planner.costs,
          clock,
          signal,
          onRefused: (error) => log.warn('chunk-not-stored', { error: String(error) }),
        })
      : null;
    if (begun !== '') live.addText(begun);
    try {
      const made = await readAnswer(
        maker.answer({
          ...active,
          ...conversation(question, passages, choices),
          question,
          choices,
          mayGuess,
          chosen,
          signal,
          begun: begun === '' ? undefined : { text: begun },
          requestClass: 'analysis',
          stopwatch: new Stopwatch(clock),
          before: { retrieve: retrieveMs },
          openSession: (wanted) => session.open({ ...wanted, question, choices }),
        }),
        (event) => {
          if (event.kind === 'progress') live.progress(event.progress);
          else if (event.kind === 'text') live.addText(event.text);
        },
      );
      if (made.stop === 'aborted')
        throw new KvasirError('ABORTED', 'It was stopped while it was being written.');
      const sources = made.citations.map((citation) =>
        sourceOf(citation, model.bytesPerToken(choices.dtype)),
      );
      const notices = [
        ...made.notices,
        ...endingNotices(made),
        ...cutOffNotice(made),
        ...unsupportedNotice(made.text, made.stats.unsupported),
      ];
      return { text: made.text, sources, notices, stats: made.stats, encoded };
    } catch (error) {
      if (!isAborted(error)) session.release(); // the contents of the session are unknown now
      throw error;
    }
  }

  #requireModel(): void {
    if (this.options.models.active?.model === this.active.model) return;
    throw new KvasirError(
      'CONFLICT',
      `This analysis was started with ${this.active.name}, but another model is in use now.`,
      'Choose that model again and continue, or start again with the model in use.',
    );
  }
}
