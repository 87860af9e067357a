import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SettingsSchema, type Settings } from '../../../src-shared/settings.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { silentLogger } from '../../platform/logger.ts';
import { hasFeed, Updates, type Updater } from './updates.ts';

/** electron-updater without a network. */
class FakeUpdater extends EventEmitter {
  autoDownload = false;
  autoInstallOnAppQuit = false;
  checks = 0;
  fails = false;

  checkForUpdates(): Promise<unknown> {
    this.checks++;
    return this.fails ? Promise.reject(new Error('net::ERR_INTERNET_DISCONNECTED')) : Promise.resolve(null);
  }
}

function updates(wanted: boolean) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const updater = new FakeUpdater();
  let loaded = 0;
  let current = SettingsSchema.parse({ updates: wanted });
  const listeners: ((now: Settings, before: Settings) => void)[] = [];
  const events = new EventBus();
  const notices: unknown[] = [];
  events.on((event) => notices.push(event));
  const made = new Updates({
    updater: () => (loaded++, Promise.resolve(updater as unknown as Updater)),
    settings: {
      get current() {
        return current;
      },
      onChange: (listener) => (listeners.push(listener), () => undefined),
    },
    events,
    log: silentLogger,
  });
  const set = (updatesNow: boolean): void => {
    const before = current;
    current = { ...current, updates: updatesNow };
    for (const listener of listeners) listener(current, before);
  };
  return { made, updater, notices, set, loads: () => loaded };
}

test('nothing is looked for unless people want it', async () => {
  const { made, loads, set, updater } = updates(false);
  made.start();
  await vi.advanceTimersByTimeAsync(3 * 24 * 3600 * 1000);
  expect(loads()).toBe(0);
  set(true);
  await vi.advanceTimersByTimeAsync(0);
  expect([loads(), updater.checks]).toEqual([1, 1]);
});

test('at the start and once a day; what is fetched is told and installed at the end', async () => {
  const { made, updater, notices, set, loads } = updates(true);
  made.start();
  await vi.advanceTimersByTimeAsync(2 * 24 * 3600 * 1000);
  expect([updater.checks, loads()]).toEqual([3, 1]);
  expect(updater).toMatchObject({ autoDownload: true, autoInstallOnAppQuit: true });
  updater.emit('update-downloaded', { version: '1.2.3' });
  expect(notices).toMatchObject([
    { topic: 'app.notice', payload: { failure: { code: 'UPDATE_READY', values: { version: '1.2.3' } } } },
  ]);
  set(false);
  await vi.advanceTimersByTimeAsync(2 * 24 * 3600 * 1000);
  expect(updater.checks).toBe(3);
});

test('without a network nothing happens, and it is tried again', async () => {
  const { made, updater, notices } = updates(true);
  updater.fails = true;
  made.start();
  await vi.advanceTimersByTimeAsync(24 * 3600 * 1000);
  expect(updater.checks).toBe(2);
  updater.emit('error', new Error('wrong checksum'));
  expect(notices).toEqual([]);
});

test('a package without an address looks nowhere', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-feed-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  expect(hasFeed(dir)).toBe(false);
  writeFileSync(join(dir, 'app-update.yml'), 'provider: generic\n');
  expect(hasFeed(dir)).toBe(true);
});
