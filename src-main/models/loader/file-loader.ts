import type { DeviceService } from '../../devices/device-service.ts';
import type { Embedder, Engine, Model } from '../../engine/engine.ts';
import { throttled, type EventBus } from '../../platform/event-bus.ts';
import { failureOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SettingsService } from '../../platform/settings-service.ts';
import { rulesOf } from '../embedding/rules.ts';
import { modelName, roleOf } from '../registry/entry.ts';
import type { KnownModels } from '../registry/known-models.ts';
import type { ModelRegistry, ModelRow } from '../registry/model-registry.ts';
import type { Trials } from './trial/trials.ts';

interface FileLoaderOptions {
  engine: Pick<Engine, 'loadModel' | 'loadEmbedder'>;
  devices: Pick<DeviceService, 'packs' | 'load'>;
  known: KnownModels;
  registry: ModelRegistry;
  trials: Trials;
  settings: SettingsService;
  events: EventBus;
  log: Logger;
}

/** Minimum time between two reports of progress, in milliseconds. */
const PROGRESS_MS = 200;

/** Loads a model's file: tries it, places it on a device, and records the attempt. */
export class FileLoader {
  readonly #options: FileLoaderOptions;

  constructor(options: FileLoaderOptions) {
    this.#options = options;
  }

  /** MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, MODEL_TOO_LARGE, OUT_OF_MEMORY. */
  chat(row: ModelRow): Promise<Model> {
    const { engine, registry, settings } = this.#options;
    const { threads, conversationDtype, deviceBudgetBytes } = settings.current;
    return this.#attempt(row, async (device, onProgress) => {
      if (row.header.engine === 'llama') await this.#try(row, device);
      const model = await engine.loadModel(row.path, {
        threads,
        device,
        kvDtype: conversationDtype,
        adapter: row.adapter ?? undefined,
        deviceBudgetBytes,
        onProgress,
      });
      await disposeOnFailure(model, () => model.tryOut());
      registry.setFingerprint(row.id, model.info.fingerprint);
      return model;
    });
  }

  /** An embedding model or a reranker. Errors as chat(). */
  embedder(row: ModelRow): Promise<Embedder> {
    const { engine, settings } = this.#options;
    return this.#attempt(row, async (device) => {
      await this.#try(row, device);
      const { pooling, end, tokens } = rulesOf(row);
      const { threads } = settings.current;
      const embedder = await engine.loadEmbedder(row.path, { threads, device, pooling, end, tokens });
      const isReranker = roleOf(row.header) === 'reranker';
      await disposeOnFailure(embedder, () =>
        isReranker ? embedder.rank('.', ['.']) : embedder.embed(['.']),
      );
      return embedder;
    });
  }

  #try(row: ModelRow, device: string): Promise<void> {
    const { trials, devices, settings } = this.#options;
    return trials.require({
      path: row.path,
      name: modelName(row),
      role: roleOf(row.header),
      threads: settings.current.threads,
      device,
      packs: devices.packs,
    });
  }

  /** Places a model on a device and loads it there; records the attempt on its entry and for the next start. */
  async #attempt<T>(
    row: ModelRow,
    load: (device: string, onProgress: (fraction: number) => void) => Promise<T>,
  ): Promise<T> {
    const { known, registry, devices, events, log } = this.#options;
    let fraction = 0;
    const report = throttled(PROGRESS_MS, () => events.emit('models.progress', { id: row.id, fraction }));
    known.trouble.set(row.id, { state: 'loading', failure: null });
    known.changed();
    try {
      known.requireFits(row);
      const loaded = await devices.load(modelName(row), (device, onGpu) => {
        // A crash on a GPU is attributed to the device and recorded there.
        registry.setLoading(row.id, !onGpu);
        return load(device, (value) => {
          fraction = value;
          report();
        });
      });
      known.trouble.delete(row.id);
      return loaded;
    } catch (error) {
      log.warn('model-not-loaded', { path: row.path, error: String(error) });
      known.trouble.set(row.id, { state: 'failed', failure: failureOf(error) });
      throw error;
    } finally {
      report.cancel();
      registry.setLoading(row.id, false);
      // After the caller has put it in use.
      setImmediate(() => known.changed());
    }
  }
}

/**
 * A model counts as loaded only once it has computed something: a bad file may make ggml abort the process only then.
 */
async function disposeOnFailure(model: { dispose(): void }, tryOut: () => Promise<unknown>): Promise<void> {
  try {
    await tryOut();
  } catch (error) {
    model.dispose();
    throw error;
  }
}
