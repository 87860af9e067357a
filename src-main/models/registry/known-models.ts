import { totalmem } from 'node:os';
import type { MemoryFit, ModelEntry } from '../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { DeviceService } from '../../devices/device-service.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import { failureOf } from '../../platform/failure.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import type { Paths } from '../../platform/paths.ts';
import type { SettingsService } from '../../platform/settings-service.ts';
import { chooseModel } from '../model-defaults.ts';
import { modelName } from './entry.ts';
import { fitOf, type Memory } from './fit.ts';
import { modifiedMs } from './model-files.ts';
import { DEMO_MODEL_ID, type ModelRegistry, type ModelRow } from './model-registry.ts';

interface KnownModelsOptions {
  registry: ModelRegistry;
  engine: Pick<Engine, 'inspect' | 'devices'>;
  devices: Pick<DeviceService, 'current'>;
  paths: Pick<Paths, 'demoModel'>;
  settings: SettingsService;
  events: EventBus;
  /** Memory of this machine in bytes. Default: from the system. */
  memory?: (() => Memory) | undefined;
}

/** State of a model that is loading or failed to load. */
export type Trouble = Pick<ModelEntry, 'state' | 'failure'>;

/** The registry's rows, checked against the files as they are now. */
export class KnownModels {
  /** Cleared at the next attempt. */
  readonly trouble = new Map<string, Trouble>();
  readonly #textMarks = new Map<string, string[]>();
  readonly #options: KnownModelsOptions;

  constructor(options: KnownModelsOptions) {
    this.#options = options;
  }

  /** The demo model first. */
  all(): ModelRow[] {
    this.demo();
    return this.#options.registry.all().map((row) => this.#fresh(row));
  }

  /** A model by its id; its header is read again if the file has changed. NOT_FOUND. */
  get(id: string): ModelRow {
    if (id === DEMO_MODEL_ID) return this.demo();
    const row = this.#options.registry.get(id);
    if (row) return this.#fresh(row);
    throw new KvasirError('NOT_FOUND', 'Model not found.', 'Import it again.');
  }

  /** The demo model is part of the program, which may have moved or been updated. MODEL_NOT_FOUND, MODEL_INVALID. */
  demo(): ModelRow {
    const path = this.#options.paths.demoModel;
    const row = this.#options.registry.get(DEMO_MODEL_ID);
    if (row && row.path === path && row.mtimeMs === modifiedMs(path)) return row;
    return this.read(DEMO_MODEL_ID, path, 'demo');
  }

  /** Reads a file's header into the registry. MODEL_NOT_FOUND, MODEL_INVALID. */
  read(id: string, path: string, origin: ModelRow['origin']): ModelRow {
    const { engine, registry } = this.#options;
    const header = engine.inspect(path);
    registry.put({ id, path, origin, mtimeMs: modifiedMs(path) ?? 0, header });
    this.#textMarks.delete(id);
    const row = registry.get(id);
    if (!row) throw new Error(`the model ${id} was written and is not there`);
    return row;
  }

  /** Control marks of a loaded model's chat template that it reads as text; undefined if there are none, or none are known. */
  textMarks(id: string): string[] | undefined {
    return this.#textMarks.get(id);
  }

  setTextMarks(id: string, marks: string[]): void {
    if (marks.length === 0) this.#textMarks.delete(id);
    else this.#textMarks.set(id, marks);
    this.changed();
  }

  /** Announces a change of the list, or of a model's state. */
  changed(): void {
    this.#options.events.emit('models.changed', {});
  }

  /** The chunk size of a model in tokens: from the settings, else its default. */
  chunkTokens({ path, header }: ModelRow): number {
    const { settings, paths } = this.#options;
    return settings.current.chunkTokens ?? chooseModel(path, paths).chunkTokens(header);
  }

  /** Memory of this machine in bytes. */
  memory(): Memory {
    return (this.#options.memory ?? systemMemory)();
  }

  /** Whether a model fits in this machine's memory; `loaded`: it is loaded now. */
  fit(row: Pick<ModelRow, 'header'>, loaded = false): MemoryFit {
    const { engine, settings, devices } = this.#options;
    return fitOf({
      header: row.header,
      contextTokens: settings.current.contextTokens,
      kvDtype: settings.current.conversationDtype,
      device: devices.current,
      loaded,
      devices: engine.devices(),
      memory: this.memory(),
    });
  }

  /** MODEL_TOO_LARGE. */
  requireFits(row: ModelRow): void {
    const fit = this.fit(row);
    if (fit.verdict !== 'too-large') return;
    const needed = fit.weightsBytes + fit.kvBytes + fit.computeBytes;
    throw new KvasirError(
      'MODEL_TOO_LARGE',
      `${modelName(row)} needs about ${formatBytes(needed)} of memory; ${formatBytes(fit.freeBytes)} are free on ${fit.device}.`,
      'Choose a smaller model or weight type, or lower the context length in the settings.',
    );
  }

  #fresh(row: ModelRow): ModelRow {
    if (row.server) return row;
    const mtimeMs = modifiedMs(row.path);
    if (mtimeMs === undefined || mtimeMs === row.mtimeMs) return row;
    try {
      return this.read(row.id, row.path, row.origin);
    } catch (error) {
      this.trouble.set(row.id, { state: 'failed', failure: failureOf(error) });
      return row;
    }
  }
}

function systemMemory(): Memory {
  const limit = process.constrainedMemory(); // of a container; 0 if there is none
  return {
    free: process.availableMemory(),
    total: Math.min(totalmem(), limit > 0 ? limit : Infinity),
  };
}
