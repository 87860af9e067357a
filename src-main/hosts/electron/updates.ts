import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBus } from '../../platform/event-bus.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SettingsService } from '../../platform/settings-service.ts';

/** The part of electron-updater's updater that is used. */
export interface Updater {
  autoDownload: boolean;
  autoInstallOnAppQuit: boolean;
  on(event: 'update-downloaded', listener: (info: { version: string }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  checkForUpdates(): Promise<unknown>;
}

interface UpdatesOptions {
  /** Loaded on demand: it reads files and opens connections. */
  updater: () => Promise<Updater>;
  settings: Pick<SettingsService, 'current' | 'onChange'>;
  events: EventBus;
  log: Logger;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Whether this package was built with an update URL (docs/packaging.md). `resources`: Electron's resource folder, if
 * any.
 */
export function hasFeed(resources: string | undefined): boolean {
  return resources !== undefined && existsSync(join(resources, 'app-update.yml'));
}

/**
 * Checks for updates at the start and once a day, if the setting is on. Downloads an update, verifies its checksum and
 * signature (electron-updater), and installs it on quit. Failures only go to the log, because the user did not ask for
 * the check.
 */
export class Updates {
  readonly #options: UpdatesOptions;
  #updater: Promise<Updater> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UpdatesOptions) {
    this.#options = options;
    options.settings.onChange((now, before) => {
      if (now.updates !== before.updates) this.start();
    });
  }

  /** Starts or stops checking, according to the setting. */
  start(): void {
    clearInterval(this.#timer);
    if (!this.#options.settings.current.updates) return;
    this.#timer = setInterval(() => void this.#look(), DAY_MS);
    this.#timer.unref();
    void this.#look();
  }

  async #look(): Promise<void> {
    try {
      this.#updater ??= this.#prepared();
      await (await this.#updater).checkForUpdates();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #prepared(): Promise<Updater> {
    const updater = await this.#options.updater();
    updater.autoDownload = true;
    updater.autoInstallOnAppQuit = true;
    updater.on('error', (error) => this.#failed(error));
    updater.on('update-downloaded', ({ version }) => {
      const failure = {
        code: 'UPDATE_READY' as const,
        message: `Kvasir ${version} is here. It is installed when you quit.`,
        advice: 'Quit and start again to use it now.',
        values: { version },
      };
      this.#options.events.emit('app.notice', { level: 'info', failure });
    });
    return updater;
  }

  #failed(error: unknown): void {
    this.#options.log.warn('no-update', { error: String(error) });
  }
}
