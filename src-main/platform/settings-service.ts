import type { Settings, SettingsChanges, SettingsInput } from '../../src-shared/settings.ts';
import { parseSettings, readObject, readSettings, withChanges, writeSettings } from './settings.ts';

/** The settings as they are now. Services that cannot read them at each use listen for changes. */
export class SettingsService {
  readonly #path: string;
  readonly #overrides: Partial<SettingsInput>;
  readonly #listeners = new Set<(settings: Settings, before: Settings) => void>();
  /** What the user set: in the file, and for this run. */
  #set: Record<string, unknown>;
  /** What was measured to be best, where the user set nothing. */
  #defaults: Partial<SettingsInput> = {};
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

  /** Whether the user set it, rather than leave it at its default. */
  isSet(key: keyof Settings): boolean {
    return this.#set[key] !== undefined;
  }

  /** Changes some settings for good. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  update(changes: SettingsChanges): Settings {
    writeSettings(this.#path, changes);
    this.#set = withChanges({ ...readObject(this.#path), ...this.#overrides }, changes);
    return this.#refresh();
  }

  /** Takes the place of the schema's defaults, for this run; an absent or undefined one goes back to the schema's. BAD_ARGUMENT. */
  setDefaults(defaults: { [K in keyof SettingsInput]?: SettingsInput[K] | undefined }): void {
    const given = Object.entries(defaults).filter(([, value]) => value !== undefined);
    const next = Object.fromEntries(given) as Partial<SettingsInput>;
    if (JSON.stringify(next) === JSON.stringify(this.#defaults)) return;
    this.#defaults = next;
    this.#refresh();
  }

  onChange(listener: (settings: Settings, before: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #refresh(): Settings {
    const before = this.#settings;
    this.#settings = parseSettings({ ...this.#defaults, ...this.#set });
    for (const listener of this.#listeners) listener(this.#settings, before);
    return this.#settings;
  }
}
