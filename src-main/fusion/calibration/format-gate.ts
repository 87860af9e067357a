import type { FormatLoss } from '../../../src-shared/contract/calibration.ts';
import type { Failure } from '../../../src-shared/contract/common.ts';
import { isPacked, type KvDtype } from '../../../src-shared/kv-dtype.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import type { SettingsService } from '../../platform/settings-service.ts';
import type { FusionModel } from '../model.ts';
import type { CalibrationService } from './calibration-service.ts';

interface GatedModel {
  name: string;
  model: Pick<FusionModel, 'info' | 'blends'>;
}

interface FormatGateOptions {
  calibration: Pick<CalibrationService, 'lossIn' | 'offers'>;
  models: { readonly active: GatedModel | undefined; onChange(listener: () => void): () => void };
  settings: SettingsService;
  events: EventBus;
}

/**
 * Sets the number format of chunks back to f16 as soon as the model in use has not passed it, and says so (decision 0287). Constructed
 * before the services that read the setting, so that they never see a format that is not offered.
 */
export class FormatGate {
  readonly #options: FormatGateOptions;
  readonly #unsubscribe: (() => void)[];

  constructor(options: FormatGateOptions) {
    this.#options = options;
    const { models, settings, events } = options;
    const check = (): void => this.#check();
    this.#unsubscribe = [
      models.onChange(check),
      settings.onChange(check),
      events.on(({ topic }) => {
        if (topic === 'calibration.changed') check();
      }),
    ];
    check();
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
  }

  /** What chunks of the model in use lose in a number format, if measured. */
  lossIn(dtype: KvDtype): FormatLoss | undefined {
    const { calibration, models } = this.#options;
    return models.active && calibration.lossIn(models.active.model, dtype);
  }

  /** Whether chunks of the model in use may be stored in a number format. */
  offers(dtype: KvDtype): boolean {
    const { calibration, models } = this.#options;
    return models.active ? calibration.offers(models.active.model, dtype) : !isPacked(dtype);
  }

  #check(): void {
    const { calibration, models, settings, events } = this.#options;
    const refused = models.active && refusal(calibration, models.active, settings.current.dtype);
    if (!refused) return;
    settings.update({ dtype: 'f16' });
    events.emit('app.notice', { level: 'warning', failure: refused });
  }
}

/** Why a model's chunks are stored in f16 instead of a format; undefined if the format is offered. */
export function refusal(
  calibration: FormatGateOptions['calibration'],
  { name, model }: GatedModel,
  dtype: KvDtype,
): Failure | undefined {
  if (!model.blends || calibration.offers(model, dtype)) return undefined;
  const loss = calibration.lossIn(model, dtype);
  return {
    code: 'BAD_ARGUMENT',
    message: loss
      ? `${name} loses too much with ${dtype} chunks (KL ${loss.kl.toFixed(3)}): its chunks are stored in f16.`
      : `${name} has not been measured with ${dtype} chunks: its chunks are stored in f16.`,
    advice: loss ? 'Choose q8_0 to save space.' : 'Calibrate the model, then choose the format again.',
  };
}
