import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { appRoot } from '../../platform/root.ts';
import { TestDesktop } from './desktop.test-support.ts';
import { FakeWebContents } from './fake-electron.test-support.ts';

describe('the window', () => {
  test('has a page that gets nothing of Node', async () => {
    const { standIn } = await new TestDesktop().start();
    const { options, webContents } = standIn.window;
    expect(options.webPreferences).toEqual({
      preload: join(appRoot(), 'out', 'preload', 'preload.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      devTools: true,
    });
    expect(webContents.url).toBe('app://kvasir/');
    expect(options.show).toBe(false);
    standIn.window.emit('ready-to-show');
    expect(standIn.window.calls).toEqual(['show']);
  });

  test('has no developer tools once installed', async () => {
    const desktop = new TestDesktop();
    desktop.standIn.app.isPackaged = true;
    const { standIn } = await desktop.start();
    expect(standIn.window.options.webPreferences?.devTools).toBe(false);
    expect(JSON.stringify(standIn.menu)).not.toMatch(/toggleDevTools|reload/);
  });

  test('stands where it stood, if that can be seen', async () => {
    const { standIn, dir } = await new TestDesktop().start();
    standIn.window.maximized = true;
    standIn.window.emit('close');
    expect(JSON.parse(readFileSync(join(dir, 'window.json'), 'utf8'))).toEqual({
      bounds: { x: 10, y: 20, width: 900, height: 700 },
      maximized: true,
    });
    standIn.window.emit('closed');
    standIn.app.emit('activate');
    expect(standIn.windows).toHaveLength(2);
    expect(standIn.window.options).toMatchObject({ x: 10, y: 20, width: 900, height: 700 });
    expect(standIn.window.maximized).toBe(true);
  });

  test.each([
    ['on a display that is gone', { bounds: { x: 3000, y: 0, width: 900, height: 700 }, maximized: false }],
    ['above every display', { bounds: { x: 0, y: -500, width: 900, height: 700 }, maximized: false }],
    ['nearly outside', { bounds: { x: 1900, y: 0, width: 900, height: 700 }, maximized: false }],
    ['without a size', { bounds: { x: 0, y: 0, width: 1, height: 1 }, maximized: false }],
    ['nowhere', 'damaged'],
  ])('stands where windows stand when it stood %s', async (_, state) => {
    const desktop = new TestDesktop();
    const text = typeof state === 'string' ? state : JSON.stringify(state);
    writeFileSync(join(desktop.dir, 'window.json'), text);
    const { window } = (await desktop.start()).standIn;
    expect(window.options).toMatchObject({ width: 1280, height: 820 });
    expect(window.options.x).toBeUndefined();
  });

  test('offers to come back when its process ends, and not when it was closed', async () => {
    const { standIn } = await new TestDesktop().start();
    standIn.button = 0;
    standIn.window.webContents.emit('render-process-gone', {}, { reason: 'clean-exit' });
    standIn.window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    await expect.poll(() => standIn.window.calls).toEqual(['reload']);
    expect(standIn.questions).toHaveLength(1);
    standIn.button = 1;
    standIn.window.webContents.emit('render-process-gone', {}, { reason: 'oom' });
    await expect.poll(() => standIn.app.ended).toEqual(['quit']);
  });

  test('has copy and paste where there is something to copy or to write in', async () => {
    const { standIn } = await new TestDesktop().start();
    const { webContents } = standIn.window;
    webContents.emit('context-menu', {}, { isEditable: false, selectionText: '' });
    expect(standIn.popups).toBe(0);
    webContents.emit('context-menu', {}, { isEditable: true, selectionText: '' });
    webContents.emit('context-menu', {}, { isEditable: false, selectionText: 'words' });
    expect(standIn.popups).toBe(2);
  });
});

describe('the window shows nothing else', () => {
  test.each(['will-navigate', 'will-redirect', 'will-frame-navigate'])(
    '%s leads nowhere else',
    async (event) => {
      const { standIn } = await new TestDesktop().start();
      const goes = (url: string): boolean => {
        const details = { url, preventDefault: vi.fn() };
        standIn.window.webContents.emit(event, details);
        return details.preventDefault.mock.calls.length === 0;
      };
      for (const url of [
        'https://example.com/',
        'file:///etc/passwd',
        'app://other/',
        'app:kvasir',
        'javascript:1',
        'data:text/html,x',
        '',
      ]) {
        expect([url, goes(url)]).toEqual([url, false]);
      }
      expect(goes('app://kvasir/#/library')).toBe(true);
    },
  );

  test('no web view is attached, to whatever contents', async () => {
    const { standIn } = await new TestDesktop().start();
    const other = new FakeWebContents();
    standIn.app.emit('web-contents-created', {}, other);
    for (const contents of [other, standIn.window.webContents]) {
      const event = { preventDefault: vi.fn() };
      contents.emit('will-attach-webview', event);
      expect(event.preventDefault).toHaveBeenCalledOnce();
    }
  });

  test.each([
    'http://example.com/',
    'file:///etc/passwd',
    'app://kvasir/',
    'smb://host/share',
    'ms-settings:',
    'nonsense',
  ])('%s opens nothing and asks nothing', async (url) => {
    const { standIn } = await new TestDesktop().start();
    expect(standIn.window.webContents.openHandler?.({ url })).toEqual({ action: 'deny' });
    expect([standIn.questions, standIn.opened]).toEqual([[], []]);
  });

  test('a link to the web is opened in the browser once the user has seen it, and never in a window', async () => {
    const { standIn } = await new TestDesktop().start();
    const url = 'https://example.com/a?b=c';
    const follow = () => standIn.window.webContents.openHandler?.({ url });
    expect(follow()).toEqual({ action: 'deny' });
    expect(standIn.questions[0]).toMatchObject({ detail: url, defaultId: 1, cancelId: 1 });
    standIn.button = 0;
    follow();
    await expect.poll(() => standIn.opened).toEqual([url]);
  });

  test('no permission is granted but copying, and that to our page only', async () => {
    const { standIn } = await new TestDesktop().start();
    const { webContents } = standIn.window;
    const stranger = new FakeWebContents();
    stranger.url = 'https://example.com/';
    const requested = (contents: unknown, permission: string): boolean => {
      let granted = true;
      standIn.permissionRequest?.(contents, permission, (answer) => (granted = answer));
      return granted;
    };
    for (const permission of [
      'media',
      'geolocation',
      'notifications',
      'clipboard-read',
      'openExternal',
      'fileSystem',
      'unknown',
    ]) {
      expect(requested(webContents, permission)).toBe(false);
      expect(standIn.permissionCheck?.(webContents, permission)).toBe(false);
    }
    expect(standIn.permissionCheck?.(webContents, 'clipboard-sanitized-write')).toBe(true);
    expect(requested(webContents, 'clipboard-sanitized-write')).toBe(true);
    expect(requested(stranger, 'clipboard-sanitized-write')).toBe(false);
    expect(standIn.permissionCheck?.(null, 'clipboard-sanitized-write')).toBe(false);
    expect(standIn.devicePermission?.()).toBe(false);
  });
});
