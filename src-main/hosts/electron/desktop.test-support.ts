import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { SettingsSchema, type Settings } from '../../../src-shared/settings.ts';
import type { HostServices } from '../../api/host.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { silentLogger } from '../../platform/logger.ts';
import { appRoot, programVersion } from '../../platform/root.ts';
import { CALL_CHANNEL } from './channels.ts';
import { FakeElectron, type FakeWebContents } from './fake-electron.test-support.ts';

/** The process, for any event by its name. */
const program: NodeJS.EventEmitter = process;
const DEFECTS = ['uncaughtException', 'uncaughtExceptionMonitor', 'unhandledRejection'];

/** The parts of the app that this host uses, without engine and services. */
class FakeCore {
  readonly version = programVersion();
  readonly events = new EventBus();
  readonly log = silentLogger;
  /** No test of the desktop opens a document. */
  readonly libraries = { views: undefined };
  readonly paths: { data: string };
  started = 0;
  closed = 0;
  readonly #listeners: ((settings: Settings) => void)[] = [];
  readonly settings = {
    current: SettingsSchema.parse({}),
    onChange: (listener: (settings: Settings) => void) => this.#listeners.push(listener),
  };

  constructor(data: string) {
    this.paths = { data };
  }

  set(changes: Partial<Settings>): void {
    this.settings.current = { ...this.settings.current, ...changes };
    for (const listener of this.#listeners) listener(this.settings.current);
  }

  start(): void {
    this.started++;
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}

/** The desktop app on a fake Electron, with a separate data folder. */
export class TestDesktop {
  readonly dir = mkdtempSync(join(tmpdir(), 'kvasir-electron-'));
  readonly standIn = new FakeElectron();
  readonly core = new FakeCore(this.dir);

  constructor() {
    const { argv } = process;
    vi.resetModules();
    vi.doMock('electron', () => this.standIn.module);
    onTestFinished(() => {
      process.argv = argv;
      vi.doUnmock('electron');
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  /** Starts it, and waits until its start has finished. */
  async start({ args = [], open = () => Promise.resolve(this.core) }: StartOptions = {}): Promise<this> {
    process.argv = ['electron', appRoot(), '--data', this.dir, ...args];
    vi.doMock('../../app.ts', () => ({ App: { open } }));
    vi.doMock('../../api/handlers.ts', () => ({
      createHandlers: (_: unknown, host: HostServices) => this.#handlers(host),
    }));
    const kept = DEFECTS.map((name) => program.listeners(name));
    await import('./main.ts');
    const { windows, app } = this.standIn;
    await expect.poll(() => windows.length + app.ended.length).toBeGreaterThan(0);
    DEFECTS.forEach((name, i) => {
      for (const listener of program.listeners(name))
        if (!kept[i]?.includes(listener)) program.off(name, listener as () => void);
    });
    return this;
  }

  /** A call by the window's page, or by another sender. */
  call(name: unknown, input?: unknown, sender?: FakeWebContents, frame?: unknown): unknown {
    const contents = sender ?? this.standIn.window.webContents;
    const senderFrame = frame === undefined ? contents.mainFrame : frame;
    return this.standIn.invoke(CALL_CHANNEL, contents, senderFrame, name, input);
  }

  #handlers(host: HostServices): Record<string, unknown> {
    return {
      'settings.get': () => this.core.settings.current,
      'app.choosePaths': async ({ kind }: { kind: 'model' }) => ({ paths: await host.choosePaths?.(kind) }),
      'app.reveal': ({ path }: { path: string }) => host.reveal?.(path) ?? {},
      'app.restart': () => host.restart?.() ?? {},
    };
  }
}

export interface StartOptions {
  args?: string[];
  open?: (options: { onBattery?: () => boolean }) => Promise<unknown>;
}
