import { availableParallelism } from 'node:os';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings, SettingsChanges, SettingsInput } from '../../src-shared/settings.ts';
import { parseSettings, readObject, readSettings, withChanges, writeSettings } from './settings.ts';

/** The settings as they are now. Services that cannot read them at each use listen for changes. */
export class SettingsService {
  readonly #path: string;
  readonly #overrides: Partial<SettingsInput>;
  readonly #listeners = new Set<(settings: Settings, before: Settings) => void>();
  /** What the user set: in the file, and for this run. */
  #set: Record<string, unknown>;
  #settings: Settings;

  /** `overrides` hold for this run only and win over the file. BAD_ARGUMENT. */
  constructor(path: string, overrides: Partial<SettingsInput> = {}) {
    this.#path = path;
    this.#overrides = overrides;
    readSettings(path); // a bad file is named before anything is laid over it
    this.#set = { ...readObject(path), ...overrides };
    this.#settings = withinMachine(parseSettings(this.#set));
  }

  get current(): Settings {
    return this.#settings;
  }

  /** Changes some settings for good. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  update(changes: SettingsChanges): Settings {
    requireCores(changes.threads);
    writeSettings(this.#path, changes);
    this.#set = withChanges({ ...readObject(this.#path), ...this.#overrides }, changes);
    return this.#refresh();
  }

  onChange(listener: (settings: Settings, before: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #refresh(): Settings {
    const before = this.#settings;
    this.#settings = withinMachine(parseSettings(this.#set));
    for (const listener of this.#listeners) listener(this.#settings, before);
    return this.#settings;
  }
}

/** A settings file may come from a larger machine: threads beyond the cores that are free to us would wait for each other. */
function withinMachine(settings: Settings): Settings {
  return { ...settings, threads: Math.min(settings.threads, availableParallelism()) };
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
