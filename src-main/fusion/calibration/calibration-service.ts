import type {
  Calibration,
  CalibrationRequest,
  CalibrationStatus,
  FormatLoss,
  TextKind,
} from '../../../src-shared/contract/calibration.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { isPacked, type KvDtype } from '../../../src-shared/kv-dtype.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { throttled, type EventBus } from '../../platform/event-bus.ts';
import type { Gate } from '../../platform/gate.ts';
import type { SettingsService } from '../../platform/settings-service.ts';
import { calibrate, strategiesAt, subjectOf, type TextSet } from './calibrate.ts';
import type { CalibrationFile } from './calibration-file.ts';
import { keeps } from './choose.ts';
import { requireBlending } from '../model.ts';
import type { CalibrationModel } from './measure.ts';

/** A model that answers, and its display name. */
export interface CalibratedModel {
  name: string;
  model: CalibrationModel;
}

/** The source of the service's model: src-main/models/. */
interface CalibratedModels<M extends CalibratedModel> {
  current(): Promise<M>;
  readonly active: M | undefined;
  onChange(listener: () => void): () => void;
}

interface CalibrationServiceOptions<M extends CalibratedModel> {
  file: CalibrationFile;
  models: CalibratedModels<M>;
  /** Prompts for a model. NOT_FOUND when there is no text for them. */
  texts: (model: M, request: CalibrationRequest, signal: AbortSignal) => Promise<TextSet>;
  settings: SettingsService;
  events: EventBus;
  gate: Gate;
  /** Milliseconds since 1970. */
  nowMs?: () => number;
}

const PROGRESS_MS = 250;

/** Measures answer quality under blending, and stores the results for the controller (src-main/fusion/planning/). */
export class CalibrationService<M extends CalibratedModel = CalibratedModel> {
  readonly #options: CalibrationServiceOptions<M>;
  readonly #unsubscribe: (() => void)[];
  #running: { controller: AbortController; ended: Promise<unknown> } | undefined;

  constructor(options: CalibrationServiceOptions<M>) {
    this.#options = options;
    this.#unsubscribe = [
      options.models.onChange(() => this.#changed()),
      options.settings.onChange((now, before) => {
        if (now.dtype !== before.dtype) this.#changed();
      }),
    ];
  }

  status(): CalibrationStatus {
    const { models, settings } = this.#options;
    return {
      calibrations: this.all(models.active?.model),
      model: models.active?.name ?? null,
      running: this.#running !== undefined,
      strategySet: settings.current.strategy.name !== 'auto',
    };
  }

  /** The measurements of a model on its device with a kind of text, for the number formats in use. */
  of(model: Pick<CalibrationModel, 'info'> | undefined, kind: TextKind): Calibration | undefined {
    return this.all(model).find(({ textKind }) => textKind === kind);
  }

  /** As `of`, for every kind of text: newest first. */
  all(model: Pick<CalibrationModel, 'info'> | undefined): Calibration[] {
    const { file, settings } = this.#options;
    return model ? file.find(subjectOf(model.info, settings.current.dtype)) : [];
  }

  /** What chunks of a model lose in a number format, by its last measurement. */
  lossIn(model: Pick<CalibrationModel, 'info'>, dtype: KvDtype): FormatLoss | undefined {
    const [newest] = this.#options.file
      .findModel(subjectOf(model.info, dtype))
      .filter(({ formats }) => formats.length > 0);
    return newest?.formats.find((format) => format.dtype === dtype);
  }

  /** Whether a model's chunks may be stored in a format: packed ones only if they were measured and keep the floor. */
  offers(model: Pick<CalibrationModel, 'info'>, dtype: KvDtype): boolean {
    const loss = this.lossIn(model, dtype);
    return !isPacked(dtype) || (loss !== undefined && keeps(loss));
  }

  /**
   * Measures the model in use. CONFLICT, NOT_FOUND, MODEL_UNSUPPORTED, ABORTED, OUT_OF_MEMORY, STORE_READ_ONLY,
   * DISK_FULL.
   */
  async run(request: CalibrationRequest, signal?: AbortSignal): Promise<Calibration> {
    const active = await this.#options.models.current();
    this.#refuseSecond();
    requireBlending(active.name, active.model);
    const controller = new AbortController();
    const stopped = AbortSignal.any([controller.signal, ...(signal ? [signal] : [])]);
    // Started a moment later, so that it can be stopped from its first progress event on.
    const ended = Promise.resolve().then(() => this.#measure(active, request, stopped));
    this.#running = { controller, ended: ended.catch(() => undefined) };
    this.#changed();
    try {
      return await ended;
    } finally {
      this.#running = undefined;
      this.#changed();
    }
  }

  /** Stops the running calibration; its measurements are dropped. */
  stop(): void {
    this.#running?.controller.abort();
  }

  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.stop();
    await this.#running?.ended;
  }

  async #measure(active: M, request: CalibrationRequest, stopped: AbortSignal): Promise<Calibration> {
    const { name, model } = active;
    const { strategies, ratios } = request;
    const { events, gate, models, settings, file, nowMs = Date.now } = this.#options;
    let progress = { done: 0, total: 0 };
    const tell = throttled(PROGRESS_MS, () => events.emit('calibration.progress', progress));
    try {
      const texts = await this.#options.texts(active, request, stopped);
      const calibration = await calibrate({
        name,
        model,
        texts,
        nowMs,
        dtype: settings.current.dtype,
        strategies: strategiesAt(strategies, ratios, model.info.kvLayers),
        onProgress: (now) => {
          progress = now;
          tell();
        },
        step: (work) =>
          gate.background((signal) => {
            throwIfAborted(signal);
            // A change of model is foreground work: during this step, the model in use stays loaded.
            if (models.active?.model !== model) throw modelChanged(name);
            return work({ signal });
          }, stopped),
      });
      file.save(calibration);
      return calibration;
    } finally {
      tell.cancel();
    }
  }

  #refuseSecond(): void {
    if (!this.#running) return;
    throw new KvasirError('CONFLICT', 'A calibration is running already.', 'Wait for it, or stop it.');
  }

  #changed(): void {
    this.#options.events.emit('calibration.changed', {});
  }
}

function modelChanged(name: string): KvasirError {
  const message = `Another model is in use now, so the calibration of ${name} was stopped.`;
  return new KvasirError('CONFLICT', message, 'Calibrate again with the model you want to measure.');
}
