import { availableParallelism } from 'node:os';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings, SettingsChanges, SettingsInput } from '../../src-shared/settings.ts';
import {
  adjustedFailure,
  parseSettings,
  readSettingsFile,
  repairSettings,
  usable,
  withChanges,
  writeSettings,
  type InvalidSetting,
} from './settings.ts';

/** The current settings. Services that cannot read them at each use listen for changes. */
export class SettingsService {
  /** Values that were requested but unusable when this object was created. */
  readonly adjusted: readonly InvalidSetting[];
  /** The same, and problems of the file, as messages. */
  readonly found: readonly Failure[];
  readonly #path: string;
  readonly #overrides: Partial<SettingsInput>;
  readonly #listeners = new Set<(settings: Settings, before: Settings) => void>();
  /** The user's settings: from the file, and for this run. */
  #set: Record<string, unknown>;
  #settings: Settings;

  /**
   * `overrides` apply to this run only and take precedence over the file. A damaged file is repaired. BAD_ARGUMENT for
   * invalid overrides.
   */
  constructor(path: string, overrides: Partial<SettingsInput> = {}) {
    this.#path = path;
    this.#overrides = overrides;
    parseSettings(overrides);
    const file = readSettingsFile(path);
    const kept = usable(file.values);
    const isDamaged = file.damage !== undefined || kept.adjusted.some(({ used }) => used === undefined);
    const { settings, adjusted } = usable({ ...kept.settings, ...overrides });
    this.#set = settings;
    this.#settings = parseSettings(settings);
    this.adjusted = [...kept.adjusted.filter(({ name }) => !(name in overrides)), ...adjusted];
    this.found = [
      ...(isDamaged ? [repairSettings(path, file, kept.settings)] : []),
      ...this.adjusted.map(adjustedFailure),
    ];
  }

  /** The current settings with overrides for one piece of work. BAD_ARGUMENT. */
  with(overrides: Partial<SettingsInput>): SettingsService {
    return new SettingsService(this.#path, { ...this.#overrides, ...overrides });
  }

  get current(): Settings {
    return this.#settings;
  }

  /** Changes settings permanently. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  update(changes: SettingsChanges): Settings {
    requireCores(changes.threads);
    writeSettings(this.#path, changes);
    const set = withChanges({ ...readSettingsFile(this.#path).values, ...this.#overrides }, changes);
    this.#set = usable(set).settings;
    return this.#refresh();
  }

  onChange(listener: (settings: Settings, before: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #refresh(): Settings {
    const before = this.#settings;
    this.#settings = parseSettings(this.#set);
    for (const listener of this.#listeners) listener(this.#settings, before);
    return this.#settings;
  }
}

function requireCores(threads: number | null | undefined): void {
  const cores = availableParallelism();
  if (!threads || threads <= cores) return;
  throw new KvasirError(
    'BAD_ARGUMENT',
    `${threads} threads are too many: ${cores === 1 ? 'one core is' : `${cores} cores are`} free to Kvasir.`,
    `Choose at most ${cores}, or 0 for what suits the model.`,
  );
}
