import { randomUUID } from 'node:crypto';
import {
  CLIENT_TEXT,
  type WatchedAnswer,
  type WatchedLibrary,
  type WatchingStatus,
} from '../../../src-shared/contract/watching.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { KvasirEvent } from '../../../src-shared/contract/events.ts';
import { isAborted, throwIfAborted } from '../../platform/abort.ts';
import type { Core } from '../../platform/core.ts';
import { RecurringTask } from '../../platform/recurring-task.ts';
import { DEFAULT_FLOOR } from '../calibration/choose.ts';
import type { FusionModel } from '../model.ts';
import { MemoryPrompts, type WatchedPrompt } from './memory-prompts.ts';
import { intervalOf } from '../averages.ts';
import { breaksFloor, FEWEST, LATEST, nextLeastRatio } from './judge.ts';
import { ratioRaisedFailure, blendingStoppedFailure } from './notices.ts';
import { PASSING, type WatchTable, type DrawnAnswer, type Origin, type Subject } from './watch-table.ts';

/** An answer that the controller blended, and the libraries of its blended passages. */
export interface BlendedAnswer {
  fingerprint: string;
  libraryIds: string[];
}

/** An answer whose prompt nothing else stores: of another program, or of a command. */
export interface PassingAnswer extends BlendedAnswer {
  prompt: WatchedPrompt;
}

/** How far a blended answer is from its full prefill. */
export type Drift = Omit<WatchedAnswer, 'measuredMs'>;

interface WatchedModel {
  id: string;
  name: string;
  model: Pick<FusionModel, 'info' | 'blends'>;
}

interface WatchServiceOptions extends Core {
  table: WatchTable;
  models: {
    readonly active: WatchedModel | undefined;
    onChange(listener: () => void): () => void;
  };
  known: { modelIds: () => string[]; libraries: () => { id: string; name: string }[] };
  answers: {
    /** undefined when an answer was not blended by the controller's choice. */
    blended(answerId: string): BlendedAnswer | undefined;
    /** Recomputes an answer, blended and in full. undefined when that is no longer possible. ABORTED, OUT_OF_MEMORY. */
    remake(answerId: string, signal: AbortSignal): Promise<Drift | undefined>;
  };
  /** As `remake`, from a prompt. */
  remakePrompt: (prompt: WatchedPrompt, signal: AbortSignal) => Promise<Drift | undefined>;
  onBattery: () => boolean;
  /** Whether a measurement is running that watching would disturb. */
  measuring: () => boolean;
  /** Milliseconds since 1970. */
  nowMs?: () => number;
  /** From 0 to 1, for sampling. */
  chance?: () => number;
  /** How long no question must have been asked before an answer is compared. */
  quietMs?: number;
}

/** Decision 0221 has the reasons for these. */
const SHARE = 1 / 3;
export const DAILY = 12;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long figures are kept. */
const KEPT_MS = 365 * DAY;
const QUIET_MS = 20_000;
/** No event announces that mains power is back. */
const LOOK_MS = HOUR / 6;
const BATTERY_MS = 5000;
/** Answers in a chart. */
const SHOWN = 100;

/**
 * Watches blending in use: recomputes a few blended answers with a full prefill when idle, stores how far they differ, and raises the
 * recomputed share, up to everything, where the difference exceeds the floor.
 */
export class WatchService {
  readonly #options: WatchServiceOptions;
  readonly #table: WatchTable;
  readonly #task: RecurringTask;
  /** Prompts of drawn answers that no conversation stores. */
  readonly #prompts = new MemoryPrompts();
  #busy = false;
  #started = false;
  #quiet: NodeJS.Timeout | undefined;
  /** Cancels the comparison in progress. */
  #stop = new AbortController();

  constructor(options: WatchServiceOptions) {
    this.#options = options;
    this.#table = options.table;
    this.#task = new RecurringTask({
      work: (signal) => this.#round(signal),
      pauseMs: 0,
      onFailed: (error) => options.log.warn('watching-stopped', { error: String(error) }),
    });
  }

  start(): void {
    this.#started = true;
    const { events, models, settings } = this.#options;
    const look = setInterval(() => this.#whenQuiet(), LOOK_MS).unref();
    this.#task.until([
      models.onChange(() => this.#whenQuiet()),
      settings.onChange(({ watchAnswers }) => {
        if (watchAnswers) return this.#whenQuiet();
        this.#stop.abort();
        this.#prompts.clear();
      }),
      events.on((event) => this.#onEvent(event)),
      () => clearInterval(look),
    ]);
    this.#forgetGone();
    this.#whenQuiet();
  }

  /** Resolves when nothing is being compared. */
  idle(): Promise<void> {
    return this.#task.idle();
  }

  close(): Promise<void> {
    clearTimeout(this.#quiet);
    return this.#task.close();
  }

  /**
   * Call for an answer that no conversation stores; undefined: it was not blended by the controller's choice. Single commands end too soon.
   */
  answered(answer: PassingAnswer | undefined): void {
    if (!this.#started) return;
    if (answer && this.#mayDraw('passing')) {
      const id = `${PASSING}${randomUUID()}`;
      if (this.#draw(id, answer)) this.#prompts.keep(id, answer.prompt);
    }
    this.#whenQuiet();
  }

  status(): WatchingStatus {
    const libraries = this.#table.pairs().map(({ modelId, libraryId }): WatchedLibrary => {
      const { leastRatio, sinceId } = this.#table.limit(modelId, libraryId);
      const counted = this.#table.answers(modelId, libraryId, sinceId, LATEST);
      return {
        modelId,
        libraryId,
        leastRatio,
        answers: this.#table.answers(modelId, libraryId, 0, SHOWN),
        counted: counted.length,
        kl: intervalOf(counted.map(({ kl }) => kl)),
        agreement: intervalOf(counted.map(({ agreement }) => agreement)),
      };
    });
    return { libraries, floor: DEFAULT_FLOOR, fewest: FEWEST, daily: DAILY };
  }

  /** Blends again as before; earlier comparisons no longer count. NOT_FOUND. */
  reset(modelId: string, libraryId: string): void {
    if (!this.#table.lift(modelId, libraryId))
      throw new KvasirError('NOT_FOUND', 'Blending of this library has not been limited.');
    this.#changed();
  }

  #onEvent({ topic, payload }: KvasirEvent): void {
    if (topic === 'chat.done') {
      const { answerId, state } = payload;
      if (state === 'done' && this.#mayDraw('kept'))
        this.#draw(answerId, this.#options.answers.blended(answerId));
      this.#whenQuiet();
    }
    if (topic === 'queue.status') {
      const { active, blocked, paused, waiting } = payload;
      this.#busy = active > 0 || (waiting > 0 && !paused && blocked === null);
    }
    if (topic === 'queue.status' || topic === 'calibration.changed') {
      if (this.#busy || this.#options.measuring()) this.#stop.abort();
      else this.#whenQuiet();
    }
    if (topic === 'library.changed' || topic === 'models.changed') this.#forgetGone();
  }

  #whenQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(this.#task.soon, this.#options.quietMs ?? QUIET_MS).unref();
  }

  /** Neither conversations nor programs use up the other's daily share. */
  #mayDraw(origin: Origin): boolean {
    const { settings, chance = Math.random } = this.#options;
    if (!settings.current.watchAnswers || chance() >= SHARE) return false;
    return this.#table.drawnSince(this.#now() - DAY, origin) < DAILY;
  }

  /** Returns whether it was blended with the model in use. */
  #draw(answerId: string, blended: BlendedAnswer | undefined): boolean {
    const { active } = this.#options.models;
    if (!active || blended?.fingerprint !== active.model.info.fingerprint) return false;
    this.#table.draw(answerId, subjectOf(active), blended.libraryIds, this.#now());
    return true;
  }

  async #round(ended: AbortSignal): Promise<void> {
    for (;;) {
      const active = this.#ready();
      if (!active || ended.aborted) return;
      const subject = subjectOf(active);
      if (this.#table.forget(subject, this.#now() - KEPT_MS)) this.#changed();
      const drawn = this.#table.next(subject, this.#now() - DAY);
      if (!drawn || !(await this.#compare(drawn, active, ended))) return;
    }
  }

  /** The model in use, if it can be watched and nothing else is to be done. */
  #ready(): WatchedModel | undefined {
    const { settings, models, onBattery, measuring } = this.#options;
    const { active } = models;
    if (!settings.current.watchAnswers || this.#busy || !active || !active.model.blends) return undefined;
    return measuring() || onBattery() ? undefined : active;
  }

  /** Compares one answer with its full prefill. False when that was interrupted: it is repeated at the next idle time. */
  async #compare(drawn: DrawnAnswer, active: WatchedModel, ended: AbortSignal): Promise<boolean> {
    const stop = (this.#stop = new AbortController());
    const battery = setInterval(() => {
      if (this.#options.onBattery()) stop.abort();
    }, BATTERY_MS).unref();
    try {
      const drift = await this.#remake(drawn, active, AbortSignal.any([ended, stop.signal]));
      if (drift) this.#keep(drawn, active, drift);
      else this.#table.drop(drawn.id);
    } catch (error) {
      if (isAborted(error)) return false; // its prompt is kept for then
      this.#table.drop(drawn.id);
      this.#options.log.warn('answer-not-watched', { error: String(error) });
    } finally {
      clearInterval(battery);
    }
    this.#prompts.forget(drawn.answerId);
    return true;
  }

  /** At the lowest priority, and only once: a comparison that a question interrupted does not restart while its answer is being read. */
  #remake({ answerId }: DrawnAnswer, active: WatchedModel, stopped: AbortSignal): Promise<Drift | undefined> {
    const { gate, models, answers, remakePrompt } = this.#options;
    const prompt = this.#prompts.get(answerId);
    if (!prompt && answerId.startsWith(PASSING)) return Promise.resolve(undefined); // drawn before a restart
    const once = new AbortController();
    return gate.background((signal) => {
      throwIfAborted(once.signal);
      once.abort();
      if (models.active?.model !== active.model) throw new KvasirError('ABORTED', 'Another model is in use.');
      return prompt ? remakePrompt(prompt, signal) : answers.remake(answerId, signal);
    }, stopped);
  }

  #keep(drawn: DrawnAnswer, active: WatchedModel, drift: Drift): void {
    this.#table.save(drawn.id, { ...drift, measuredMs: this.#now() });
    for (const libraryId of this.#table.libraryIds(drawn.id)) this.#judge(drawn, active, libraryId);
    this.#changed();
  }

  #judge(subject: Subject, active: WatchedModel, libraryId: string): void {
    const { leastRatio, sinceId } = this.#table.limit(subject.modelId, libraryId);
    const answers = this.#table.answers(subject.modelId, libraryId, sinceId, LATEST);
    if (leastRatio === 1 || !breaksFloor(answers, DEFAULT_FLOOR)) return;
    const next = nextLeastRatio(leastRatio, answers);
    this.#table.setLimit(subject, libraryId, next);
    const { events, known, log } = this.#options;
    log.info('blending-limited', { ...subject, libraryId, leastRatio: next });
    const names = [...known.libraries(), { id: CLIENT_TEXT, name: 'API' }];
    const library = names.find(({ id }) => id === libraryId)?.name ?? '';
    const failure =
      next === 1
        ? blendingStoppedFailure(active.name, library)
        : ratioRaisedFailure(active.name, library, next);
    events.emit('app.notice', { level: 'warning', failure });
  }

  /** Deletes the figures of models and libraries that were removed. */
  #forgetGone(): void {
    const { modelIds, libraries } = this.#options.known;
    if (this.#table.pairs().length === 0) return;
    const ids = [...libraries().map(({ id }) => id), CLIENT_TEXT];
    if (this.#table.keepOnly(modelIds(), ids)) this.#changed();
  }

  #now(): number {
    return (this.#options.nowMs ?? Date.now)();
  }

  #changed(): void {
    this.#options.events.emit('watching.changed', {});
  }
}

function subjectOf({ id, model }: WatchedModel): Subject {
  return { modelId: id, fingerprint: model.info.fingerprint };
}
