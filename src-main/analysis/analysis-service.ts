import type {
  Analysis,
  AnalysisPlan,
  AnalysisSummary,
  DocumentAnalysis,
  QuestionBatch,
} from '../../src-shared/contract/analysis.ts';
import { mayContinue } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { AnswerMaker } from '../answering/answer.ts';
import { choicesOf } from '../answering/choices.ts';
import type { Passages } from '../answering/passages.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import { isAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { failureOf, traceOf } from '../platform/failure.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import { notFound, rowId } from '../platform/ids.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { AnalysisTable, type AnalysisRow } from './analysis-table.ts';
import { planOf, runDocument, windowsOf } from './document-run.ts';
import { exportAnalysis, type ExportFormat, type ExportFile } from './export.ts';
import type { Documents } from './library-documents.ts';
import { AnalysisSessions } from './session.ts';
import { runQuestions } from './questions-run.ts';
import { RunningAnalysis } from './running-analysis.ts';
import { shownAnalysis } from './shown-analysis.ts';
import { AnalysisRun, type AnalysisModels, type AnalysisStore } from './analysis-run.ts';
import type { Core } from '../platform/core.ts';

interface AnalysisServiceOptions extends Core {
  /** Path of the analysis database. */
  path: string;
  models: AnalysisModels;
  retrieval: Retrieval;
  passages: Passages;
  documents: Documents;
  store: AnalysisStore;
  planner: Planner;
  /** Opens a session that only the caller uses. OUT_OF_MEMORY. */
  openSession: (model: FusionModel, capacity: number) => FusionSession;
  /** Called when the analysis database could not be read and was set aside. */
  onSetAside?: ((what: QuarantinedDatabase) => void) | undefined;
}

/**
 * Analyses: documents read window by window, and batches of questions. One runs at a time, the others wait; each step yields to questions
 * from a conversation.
 */
export class AnalysisService {
  readonly #options: AnalysisServiceOptions & { clock: Clock };
  readonly #table: AnalysisTable;
  readonly #maker: AnswerMaker;
  readonly #sessions: AnalysisSessions;
  /** Running or waiting, by id. */
  readonly #live = new Map<number, RunningAnalysis>();
  #tail: Promise<void> = Promise.resolve();
  #run: AnalysisRun | undefined;
  #closed = false;

  /** STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  constructor(options: AnalysisServiceOptions) {
    this.#options = { ...options, clock: systemClock };
    this.#table = AnalysisTable.open(options.path, options.onSetAside);
    const { store, planner, retrieval, passages, log } = options;
    // Missing chunks are computed and stored before a prompt places them; prompts share their prefix through the session.
    this.#maker = new AnswerMaker({ store, planner, retrieval, passages, log });
    this.#sessions = new AnalysisSessions(options.openSession);
  }

  /** What an analysis of a document would do. NOT_FOUND, CONFLICT, CONTEXT_OVERFLOW, QUESTION_TOO_LONG, DOCUMENT_NO_TEXT. */
  async plan(request: DocumentAnalysis): Promise<AnalysisPlan> {
    const { documents, store, settings, planner } = this.#options;
    const active = await this.#options.models.current();
    const document = documents.open(request.documentId, active);
    const { model } = active;
    const choices = choicesOf(request, settings.current, model, planner);
    return planOf(document, request, { model, store, choices });
  }

  /** Starts an analysis of a document. Errors as plan(). */
  async analyse(request: DocumentAnalysis): Promise<{ id: string }> {
    const { documents, settings, models, planner } = this.#options;
    const active = await models.current();
    const document = documents.open(request.documentId, active);
    const choices = choicesOf(request, settings.current, active.model, planner);
    const windows = windowsOf(document, request, active.model, choices);
    const { title, version, path, libraryId } = document;
    return this.#add(
      { kind: 'document', title, version, request: { ...request, path, libraryId }, model: active.name },
      windows.map((span) => ({ kind: 'window' as const, ...span, question: '' })),
    );
  }

  /** Starts answering questions. */
  ask(request: QuestionBatch): { id: string } {
    const title = request.questions[0] ?? '';
    const model = this.#options.models.active?.name ?? '';
    return this.#add(
      { kind: 'questions', title, version: '', request, model },
      request.questions.map((question) => ({ kind: 'question' as const, from: 0, to: 0, question })),
    );
  }

  list(): AnalysisSummary[] {
    return this.#table.list();
  }

  /** NOT_FOUND. */
  get(id: string): Analysis {
    const row = this.#require(id);
    return shownAnalysis(row, this.#table.steps(row.id), {
      live: this.#live.get(row.id),
      isThere: (documentId, path) => this.#options.passages.document(documentId)?.path === path,
    });
  }

  /** Stops an analysis; finished steps are kept. NOT_FOUND. */
  stop(id: string): void {
    const live = this.#live.get(this.#require(id).id);
    live?.stop();
    if (live && this.#run?.live !== live) this.#end(live, 'stopped'); // its turn had not come
  }

  /**
   * Runs the unfinished steps; with a step, that one again (`goOn`: from where it was cut off) and every step that depends on it.
   * NOT_FOUND; CONFLICT while it is running, and when nothing more can follow.
   */
  resume(id: string, stepId?: string, goOn = false): void {
    const row = this.#require(id);
    if (this.#live.has(row.id))
      throw new KvasirError(
        'CONFLICT',
        'This analysis is still running.',
        'Wait until it is done, or stop it.',
      );
    if (stepId !== undefined) this.#reset(row, stepId, goOn);
    for (const step of this.#table.steps(row.id))
      if (step.state === 'failed') this.#table.resetStep(Number(step.id));
    this.#start(row.id);
  }

  /** Deletes an analysis permanently. NOT_FOUND. */
  delete(id: string): void {
    const row = this.#require(id);
    this.stop(id);
    this.#table.remove(row.id);
    this.#changed();
  }

  /** NOT_FOUND; BAD_ARGUMENT for a document as CSV. */
  export(id: string, format: ExportFormat): ExportFile {
    return exportAnalysis(this.get(id), format);
  }

  /** Releases everything held of a model's memory, before the model is disposed. */
  async releaseModel(model: unknown): Promise<void> {
    const run = this.#run;
    if (run && run.active.model === model) await run.release();
  }

  /** Resolves when nothing is running or waiting. */
  async idle(): Promise<void> {
    await this.#tail;
  }

  /** Stops everything; finished steps are kept. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const live of this.#live.values()) live.stop();
    await this.idle();
    this.#table.close();
  }

  #add(
    analysis: Pick<AnalysisRow, 'kind' | 'title' | 'version' | 'request' | 'model'>,
    steps: Parameters<AnalysisTable['add']>[1],
  ): { id: string } {
    const id = this.#table.add({ ...analysis, createdMs: this.#options.clock.wall() }, steps);
    this.#start(id);
    return { id: String(id) };
  }

  #start(id: number): void {
    if (this.#closed) throw new KvasirError('ABORTED', 'Kvasir is shutting down.');
    const live = new RunningAnalysis(id, this.#options.events, this.#options.clock);
    this.#live.set(id, live);
    this.#table.setState(id, 'waiting');
    this.#changed(id);
    this.#tail = this.#tail.then(() => this.#execute(live));
  }

  /** Never rejects: the outcome is stored. */
  async #execute(live: RunningAnalysis): Promise<void> {
    const { log } = this.#options;
    if (this.#live.get(live.id) !== live) return; // stopped while it waited
    try {
      await this.#take(live);
      this.#end(live, 'done');
    } catch (error) {
      const stopped = isAborted(error);
      if (!(error instanceof KvasirError)) log.error('analysis-failed', { error: traceOf(error) });
      this.#end(live, stopped ? 'stopped' : 'failed', stopped ? null : failureOf(error));
    } finally {
      await this.#run?.release();
      this.#run = undefined;
    }
  }

  async #take(live: RunningAnalysis): Promise<void> {
    const { models, settings, planner } = this.#options;
    const row = this.#table.get(live.id);
    if (!row) return; // deleted in the meantime
    this.#table.setState(row.id, 'running');
    this.#changed(row.id);
    const active = await models.current();
    this.#table.setModel(row.id, active.name);
    const choices = choicesOf(row.request, settings.current, active.model, planner);
    const options = { ...this.#options, table: this.#table, maker: this.#maker, sessions: this.#sessions };
    const run = new AnalysisRun({ row, live, active, choices, options });
    this.#run = run;
    if ('questions' in row.request) {
      await runQuestions(run, row.request.scope);
    } else await runDocument(run, row.request);
  }

  #end(
    live: RunningAnalysis,
    state: 'done' | 'stopped' | 'failed',
    failure: Analysis['failure'] = null,
  ): void {
    try {
      this.#table.setState(live.id, state, failure);
    } catch (error) {
      this.#options.log.error('analysis-not-saved', { error: traceOf(error) }); // the next start finds it stopped
    }
    this.#live.delete(live.id);
    this.#changed(live.id);
  }

  /** Resets a step; results combined from it are no longer valid. */
  #reset(row: AnalysisRow, stepId: string, goOn: boolean): void {
    const step = this.#table.steps(row.id).find((candidate) => candidate.id === stepId);
    if (!step) throw notFound('step');
    if (goOn) {
      if (!mayContinue({ ...step, thinking: null })) throw notCutOff();
      this.#table.reopenStep(Number(step.id));
      const after = step.kind === 'combine' ? Number(step.id) : 0;
      if (step.kind !== 'question') this.#table.removeCombining(row.id, after);
      return;
    }
    this.#table.resetStep(Number(step.id));
    if (step.kind !== 'question') this.#table.removeCombining(row.id);
  }

  #require(id: string): AnalysisRow {
    const row = this.#table.get(rowId(id, 'analysis'));
    if (!row) throw notFound('analysis');
    return row;
  }

  #changed(id?: number): void {
    this.#options.events.emit('analysis.changed', id === undefined ? {} : { id: String(id) });
  }
}

function notCutOff(): KvasirError {
  return new KvasirError(
    'CONFLICT',
    'This answer was not cut off, so it cannot be continued.',
    'Run the step again instead.',
  );
}
