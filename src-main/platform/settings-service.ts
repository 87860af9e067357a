import type { Settings, SettingsChanges, SettingsInput } from '../../src-shared/settings.ts';
import { parseSettings, readSettings, withChanges, writeSettings } from './settings.ts';

/** The settings as they are now. Services that cannot read them at each use listen for changes. */
export class SettingsService {
  readonly #path: string;
  readonly #overrides: Partial<SettingsInput>;
  readonly #listeners = new Set<(settings: Settings, before: Settings) => void>();
  #settings: Settings;

  /** `overrides` hold for this run only and win over the file. BAD_ARGUMENT. */
  constructor(path: string, overrides: Partial<SettingsInput> = {}) {
    this.#path = path;
    this.#overrides = overrides;
    this.#settings = parseSettings({ ...readSettings(path), ...overrides });
  }

  get current(): Settings {
    return this.#settings;
  }

  /** Changes some settings for good. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  update(changes: SettingsChanges): Settings {
    const before = this.#settings;
    this.#settings = parseSettings(
      withChanges({ ...writeSettings(this.#path, changes), ...this.#overrides }, changes),
    );
    for (const listener of this.#listeners) listener(this.#settings, before);
    return this.#settings;
  }

  onChange(listener: (settings: Settings, before: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
