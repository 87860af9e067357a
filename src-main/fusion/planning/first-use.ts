import {
  CalibrationRequestSchema,
  type CalibrationRequest,
} from '../../../src-shared/contract/calibration.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CalibratedModel, CalibrationService } from '../calibration/calibration-service.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { RecurringTask } from '../../platform/recurring-task.ts';
import type { CostModel } from './cost-model.ts';
import { profile, type ProfiledModel, type ProfileOptions } from './profile.ts';
import type { Core } from '../../platform/core.ts';

interface FirstUseOptions extends Core {
  models: {
    readonly active: (CalibratedModel & { model: ProfiledModel }) | undefined;
    onChange(listener: () => void): () => void;
  };
  costs: CostModel;
  calibration: Pick<CalibrationService, 'all' | 'run' | 'status'>;
  /** Folder on the store's disk, for files that are read once. */
  dir: string;
  /** Minimum milliseconds between two rounds. */
  pauseMs?: number;
}

/** Few prompts and the strategies that preserve quality best, so that it ends soon; people can run a full calibration (decision 0247). */
export const SHORT_CALIBRATION: CalibrationRequest = CalibrationRequestSchema.parse({
  strategies: ['query', 'deviation'],
  ratios: [0.1, 0.15, 0.2, 0.3, 0.5],
  prompts: 6,
});

const PAUSE_MS = 2000;

/**
 * Measures a model that is new on this machine, at the lowest priority: its costs and, once documents are ready, answer quality under
 * blending. Earlier questions are answered with the defaults.
 */
export class FirstUse {
  readonly #options: FirstUseOptions;
  readonly #task: RecurringTask;
  /** Models, with number format, that were measured or could not be: once per run of the program is enough. */
  readonly #tried = new Set<string>();
  #busy = true;

  constructor(options: FirstUseOptions) {
    this.#options = options;
    this.#task = new RecurringTask({
      work: (signal) => this.#round(signal),
      pauseMs: options.pauseMs ?? PAUSE_MS,
      onFailed: (error) => options.log.warn('first-use-stopped', { error: String(error) }),
    });
  }

  start(): void {
    const { models, settings, events } = this.#options;
    const { soon } = this.#task;
    this.#task.until([
      models.onChange(soon),
      settings.onChange((now, before) => {
        if (now.dtype !== before.dtype || now.strategy.name !== before.strategy.name) soon();
      }),
      events.on(({ topic, payload }) => {
        if (topic !== 'queue.status') return;
        this.#busy = payload.waiting + payload.active > 0 || payload.total === 0;
        if (!this.#busy) soon();
      }),
    ]);
  }

  /** Resolves when nothing is being measured. */
  idle(): Promise<void> {
    return this.#task.idle();
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { models } = this.#options;
    if (models.active && !models.active.model.blends) return;
    if (models.active) await this.#profile(models.active.model, signal);
    if (models.active && !this.#busy) await this.#calibrate(models.active.model, signal);
  }

  async #profile(model: ProfiledModel, ended: AbortSignal): Promise<void> {
    const { costs, gate, settings, models, dir } = this.#options;
    if (costs.knows(model.info, 'disk')) return;
    const step: ProfileOptions['step'] = (work) =>
      gate.background((signal) => {
        throwIfAborted(signal);
        // During this step, the model in use stays loaded.
        if (models.active?.model !== model) throw new KvasirError('ABORTED', 'Another model is in use.');
        return work({ signal });
      }, ended);
    const { dtype } = settings.current;
    await this.#once('profile', model, () => profile({ model, costs, dir, dtype, step }));
  }

  async #calibrate(model: ProfiledModel, signal: AbortSignal): Promise<void> {
    const { calibration, settings } = this.#options;
    if (settings.current.strategy.name !== 'auto' || calibration.status().running) return;
    if (calibration.all(model).length > 0) return;
    const what = `calibrate ${settings.current.dtype}`;
    await this.#once(what, model, () => calibration.run(SHORT_CALIBRATION, signal));
  }

  /** Does nothing the second time, unless the first found the model unloaded or no documents yet. */
  async #once(what: string, model: ProfiledModel, work: () => Promise<unknown>): Promise<void> {
    const key = `${what} ${model.info.fingerprint}`;
    if (this.#tried.has(key)) return;
    this.#tried.add(key);
    try {
      await work();
    } catch (error) {
      const notYet = error instanceof KvasirError && error.code === 'NOT_FOUND';
      if (notYet || this.#options.models.active?.model !== model) this.#tried.delete(key);
      throw error;
    }
  }
}
