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
    this.#settings = parseSettings(this.#set);
  }

  get current(): Settings {
    return this.#settings;
  }

  /** Changes some settings for good. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  update(changes: SettingsChanges): Settings {
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
    this.#settings = parseSettings(this.#set);
    for (const listener of this.#listeners) listener(this.#settings, before);
    return this.#settings;
  }
}
