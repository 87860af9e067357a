import { rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { silentLogger } from '../../platform/logger.ts';
import { appRoot, programVersion } from '../../platform/root.ts';
import { createApi } from '../../api/api.ts';
import { GuestHost } from '../client/guest-host.ts';
import { ContractSocket } from '../window/contract-socket.ts';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';
import { TestDesktop } from './desktop.test-support.ts';
import { FakeWebContents } from './fake-electron.test-support.ts';

describe('calls and events', () => {
  test('go through one channel each', async () => {
    const desktop = await new TestDesktop().start();
    const { standIn, core } = desktop;
    expect([...standIn.handlers.keys()]).toEqual([CALL_CHANNEL]);
    expect(core.started).toBe(1);
    expect(await desktop.call('settings.get')).toEqual({ ok: true, data: core.settings.current });
    core.events.emit('cache.changed', {});
    expect(standIn.window.webContents.sent).toEqual([
      [EVENT_CHANNEL, { topic: 'cache.changed', payload: {} }],
    ]);
  });

  test('inputs are checked, and nothing rejects', async () => {
    const desktop = await new TestDesktop().start();
    expect(await desktop.call('no.such')).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
    expect(await desktop.call({ name: 'settings.get' })).toMatchObject({ ok: false });
    expect(await desktop.call('app.choosePaths', { kind: 'everything' })).toMatchObject({ ok: false });
  });

  test('only the top frame of our window is answered', async () => {
    const desktop = await new TestDesktop().start();
    const { standIn } = desktop;
    const { webContents } = standIn.window;
    const { mainFrame } = webContents;
    const refused = { ok: false, error: { message: "Only Kvasir's own window can ask this." } };
    for (const frame of [
      null,
      { parent: mainFrame, url: 'app://kvasir/' },
      { parent: null, url: 'https://example.com/' },
      { parent: null, url: 'app://kvasir.evil/' },
      { parent: null, url: 'about:blank' },
      { parent: null, url: '' },
    ]) {
      expect(await desktop.call('settings.get', {}, webContents, frame)).toMatchObject(refused);
    }
    const stranger = new FakeWebContents();
    stranger.mainFrame.url = 'app://kvasir/';
    expect(await desktop.call('settings.get', {}, stranger)).toMatchObject(refused);
  });

  test('a window that is gone is told nothing', async () => {
    const { standIn, core } = await new TestDesktop().start();
    const { window } = standIn;
    window.webContents.destroyed = true;
    core.events.emit('cache.changed', {});
    window.emit('closed');
    core.events.emit('cache.changed', {});
    expect(window.webContents.sent).toEqual([]);
  });

  test("the system's dialogs", async () => {
    const desktop = await new TestDesktop().start();
    const { standIn } = desktop;
    expect(await desktop.call('app.choosePaths', { kind: 'model' })).toEqual({
      ok: true,
      data: { paths: [] },
    });
    standIn.files = ['/models/a.gguf'];
    expect(await desktop.call('app.choosePaths', { kind: 'model' })).toEqual({
      ok: true,
      data: { paths: ['/models/a.gguf'] },
    });
    expect(standIn.openDialogs[1]?.filters?.[0]?.extensions).toEqual(['gguf']);
    await desktop.call('app.choosePaths', { kind: 'folder' });
    expect(standIn.openDialogs[2]?.properties).toContain('openDirectory');
    await desktop.call('app.reveal', { path: '/data' });
    expect(standIn.shown).toEqual(['/data']);
  });

  test('it restarts when the window asks', async () => {
    const desktop = await new TestDesktop().start();
    await desktop.call('app.restart', {});
    expect(desktop.standIn.app.ended).toEqual(['relaunch', 'quit']);
  });
});

describe('files to open', () => {
  const opened = ({ standIn }: TestDesktop) =>
    standIn.window.webContents.sent.flatMap(([, event]) => {
      const { topic, payload } = event as { topic: string; payload: unknown };
      return topic === 'app.open' ? [payload] : [];
    });

  test('wait until the window listens', async () => {
    const desktop = new TestDesktop();
    const file = join(desktop.dir, 'notes.md');
    const model = join(desktop.dir, 'small.GGUF');
    for (const path of [file, model]) writeFileSync(path, '');
    await desktop.start({ args: [file, '--some-flag-of-chromium', join(desktop.dir, 'nothing')] });
    desktop.standIn.app.emit('open-file', { preventDefault: vi.fn() }, model);
    expect(opened(desktop)).toEqual([]);
    await desktop.call('settings.get');
    expect(opened(desktop)).toEqual([
      { paths: [file], route: '/library' },
      { paths: [model], route: '/models' },
    ]);
  });

  test('of a second Kvasir go to the first', async () => {
    const desktop = await new TestDesktop().start();
    const { standIn, dir } = desktop;
    await desktop.call('settings.get');
    writeFileSync(join(dir, 'later.txt'), '');
    standIn.window.minimized = true;
    standIn.app.emit('second-instance', {}, ['electron', appRoot(), 'later.txt', '--data', dir], dir);
    expect(opened(desktop)).toEqual([{ paths: [join(dir, 'later.txt')], route: '/library' }]);
    expect([standIn.window.minimized, standIn.window.calls]).toEqual([false, ['focus']]);
    expect(standIn.windows).toHaveLength(1);
  });

  test('a second Kvasir on the same data ends at once', async () => {
    const desktop = new TestDesktop();
    desktop.standIn.app.locked = false;
    const { standIn, dir } = await desktop.start();
    expect([standIn.app.ended, standIn.windows]).toEqual([['quit'], []]);
    expect(standIn.app.paths['userData']).toBe(join(dir, 'electron'));
  });
});

describe('a data folder that another process owns', () => {
  /** Uses the modules of the app under test. */
  async function inUse(): Promise<Error> {
    const { KvasirError } = await import('../../../src-shared/errors.ts');
    return new KvasirError('STORE_IN_USE', 'Another Kvasir uses the store.', 'Close it.');
  }
  const ADDRESS = `http://127.0.0.1:4321/?token=${'t'.repeat(43)}`;
  async function servingOwner({ dir }: TestDesktop): Promise<{ host: GuestHost }> {
    const api = createApi({ 'command.window': () => ({ address: ADDRESS }) } as never, silentLogger);
    const host = await GuestHost.open(dir, {
      version: programVersion(),
      log: silentLogger,
      serve: async (socket) => {
        new ContractSocket(socket, api);
        await once(socket, 'close');
      },
    });
    if (!host) throw new Error('no socket');
    return { host };
  }

  test("its owner's window is shown, and when that ends it is taken over", async () => {
    const desktop = new TestDesktop();
    const owner = await servingOwner(desktop);
    const failure = await inUse();
    let owned = true;
    const { standIn, core } = await desktop.start({
      open: () => (owned ? Promise.reject(failure) : Promise.resolve(desktop.core)),
    });
    const [shown] = standIn.windows;
    expect(shown?.webContents.url).toBe(ADDRESS);
    expect(shown?.options.webPreferences).toMatchObject({ sandbox: true, contextIsolation: true });
    expect(shown?.options.webPreferences).not.toHaveProperty('preload');
    expect(core.started).toBe(0);

    const goes = (url: string): boolean => {
      const event = { url, preventDefault: vi.fn() };
      shown?.webContents.emit('will-redirect', event);
      return event.preventDefault.mock.calls.length === 0;
    };
    expect(goes('http://127.0.0.1:4321/k/secret/')).toBe(true);
    for (const url of [
      'http://127.0.0.1:4322/',
      'http://localhost:4321/',
      'https://example.com/',
      'file:///etc',
    ])
      expect(goes(url)).toBe(false);

    owned = false;
    await owner.host.close();
    await expect.poll(() => standIn.windows.length).toBe(2);
    expect(standIn.window.webContents.url).toBe('app://kvasir/');
    await expect.poll(() => shown?.calls).toContain('destroy');
    expect([core.started, standIn.app.ended]).toEqual([1, []]);
    expect(goes('http://127.0.0.1:4321/k/secret/')).toBe(false);
  });

  test('closing its window ends this process, not the owner', async () => {
    const desktop = new TestDesktop();
    const owner = await servingOwner(desktop);
    const failure = await inUse();
    const { standIn } = await desktop.start({ open: () => Promise.reject(failure) });
    standIn.window.emit('closed');
    expect(standIn.app.ended).toEqual(['quit']);
    expect(owner.host.guests).toBe(1); // the end of the process ends it
    await owner.host.close();
  });
});

describe('the menu', () => {
  const items = (menu: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] =>
    menu.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? items(item.submenu) : [])]);
  const click = ({ standIn }: TestDesktop, label: string): void => {
    const item = items(standIn.menu).find((candidate) => candidate.label === label);
    (item?.click as (() => void) | undefined)?.();
  };

  test('has the roles that people expect', async () => {
    const { standIn } = await new TestDesktop().start();
    const roles = items(standIn.menu).map(({ role }) => role);
    expect(roles).toEqual(
      expect.arrayContaining([
        'quit',
        'undo',
        'cut',
        'copy',
        'paste',
        'selectAll',
        'zoomIn',
        'togglefullscreen',
        'minimize',
      ]),
    );
    const accelerators = items(standIn.menu).flatMap(({ accelerator }) => accelerator ?? []);
    expect(new Set(accelerators).size).toBe(accelerators.length);
  });

  test('goes to places and adds documents', async () => {
    const desktop = await new TestDesktop().start();
    const { standIn } = desktop;
    await desktop.call('settings.get');
    standIn.files = ['/a.pdf', '/b.pdf'];
    click(desktop, 'Models');
    click(desktop, 'Settings…');
    click(desktop, 'Add Documents…');
    const { sent } = standIn.window.webContents;
    await expect.poll(() => sent).toHaveLength(3);
    expect(sent.map(([, event]) => (event as { payload: unknown }).payload)).toEqual([
      { paths: [], route: '/models' },
      { paths: [], route: '/settings' },
      { paths: ['/a.pdf', '/b.pdf'], route: '/library' },
    ]);
  });

  test("speaks the user's language, and changes with it", async () => {
    const desktop = new TestDesktop();
    desktop.standIn.app.locale = 'zh-CN';
    const { standIn, core } = await desktop.start();
    expect(standIn.menu.map(({ label }) => label)).toContain('文件');
    core.set({ language: 'en' });
    expect(standIn.menu.map(({ label }) => label)).toContain('File');
    core.set({ language: 'zh' });
    const labels = items(standIn.menu).flatMap(({ label }) => label?.replace('Kvasir', '') ?? []);
    expect(labels.filter((label) => /[a-z]/i.test(label))).toEqual([]);
  });

  test('has the menu of the app on a Mac', async () => {
    const { menuTemplate } = await import('./menu.ts');
    const { wordsFor } = await import('./words.ts');
    const actions = { goTo: vi.fn(), addDocuments: vi.fn() };
    const mac = menuTemplate(wordsFor('en', ''), actions, { platform: 'darwin', packaged: true });
    expect(mac[0]?.label).toBe('Kvasir');
    expect(items(mac).filter(({ role }) => role === 'quit')).toHaveLength(1);
  });
});

describe('the end', () => {
  test('waits until the core is closed', async () => {
    const { standIn, core } = await new TestDesktop().start();
    const event = { preventDefault: vi.fn() };
    standIn.app.emit('will-quit', event);
    expect(event.preventDefault).toHaveBeenCalledOnce();
    await expect.poll(() => standIn.app.ended).toEqual(['quit']);
    expect(core.closed).toBe(1);
    standIn.app.emit('will-quit', event);
    expect(event.preventDefault).toHaveBeenCalledOnce();
  });

  test('comes with the last window', async () => {
    const { standIn } = await new TestDesktop().start();
    standIn.app.emit('window-all-closed');
    expect(standIn.app.ended).toEqual(process.platform === 'darwin' ? [] : ['quit']);
  });

  test('a core that cannot start says why and what to do', async () => {
    const desktop = new TestDesktop();
    const { KvasirError } = await import('../../../src-shared/errors.ts');
    const failure = new KvasirError('STORE_IN_USE', 'Another Kvasir uses the store.', 'Close it.');
    const { standIn } = await desktop.start({ open: () => Promise.reject(failure) });
    expect(standIn.errors).toEqual([['Kvasir cannot start', 'Another Kvasir uses the store.\n\nClose it.']]);
    expect([standIn.app.ended, standIn.windows]).toEqual([['exit 1'], []]);
  });

  test('an addon that cannot be loaded shows where', async () => {
    const failure = new Error('invalid ELF header');
    const { standIn } = await new TestDesktop().start({ open: () => Promise.reject(failure) });
    expect(standIn.errors[0]?.[1]).toMatch(/invalid ELF header[^]+at /);
    expect(standIn.app.ended).toEqual(['exit 1']);
  });

  test('a data folder that cannot be written is told before anything else', async () => {
    const desktop = new TestDesktop();
    rmSync(desktop.dir, { recursive: true });
    writeFileSync(desktop.dir, 'a file in its place');
    const { standIn } = await desktop.start();
    expect(standIn.errors[0]?.[1]).toContain('cannot write to its data folder');
    expect(standIn.app.ended).toEqual(['exit 1']);
  });
});

test.each([
  ['win32', true],
  ['darwin', true],
  ['linux', undefined], // where Electron does not know, the core checks itself
] as const)('on %s the system says whether the machine runs on a battery: %s', async (platform, said) => {
  const here = process.platform;
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: here }));
  Object.defineProperty(process, 'platform', { value: platform });
  const desktop = new TestDesktop();
  let onBattery: (() => boolean) | undefined;
  await desktop.start({
    open: (options) => {
      ({ onBattery } = options);
      return Promise.resolve(desktop.core);
    },
  });
  desktop.standIn.battery = true;
  expect(onBattery?.()).toBe(said);
});
