import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import type { Bridge } from '../../../src-shared/contract/bridge.ts';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';

afterEach(() => {
  vi.doUnmock('electron');
});

/** Runs the preload script and returns what the page finds. */
async function preload() {
  const exposed = new Map<string, unknown>();
  const invoke = vi.fn(() => Promise.resolve({ ok: true, data: 1 }));
  const ipcRenderer = Object.assign(new EventEmitter(), { invoke });
  const paths = new Map<object, string>();
  vi.resetModules();
  vi.doMock('electron', () => ({
    contextBridge: { exposeInMainWorld: (name: string, api: unknown) => exposed.set(name, api) },
    ipcRenderer,
    webUtils: { getPathForFile: (file: object) => paths.get(file) ?? '' },
  }));
  await import('./preload.ts');
  return { exposed, ipcRenderer, invoke, paths, bridge: exposed.get('kvasir') as Bridge<object> };
}

test('the page finds the bridge and nothing else', async () => {
  const { exposed, bridge } = await preload();
  expect([...exposed.keys()]).toEqual(['kvasir']);
  expect(Object.keys(bridge).sort()).toEqual(['call', 'onConnection', 'onEvent', 'pathOf']);
});

test('calls go by one channel, whatever their name', async () => {
  const { bridge, invoke } = await preload();
  expect(await bridge.call('settings.get', { a: 1 })).toEqual({ ok: true, data: 1 });
  expect(invoke.mock.calls).toEqual([[CALL_CHANNEL, 'settings.get', { a: 1 }]]);
});

test("events come without Electron's own, until the page has heard enough", async () => {
  const { bridge, ipcRenderer } = await preload();
  const heard: unknown[][] = [];
  const stop = bridge.onEvent((...args) => heard.push(args));
  ipcRenderer.emit(EVENT_CHANNEL, { sender: 'Electron' }, { topic: 'cache.changed', payload: {} });
  stop();
  ipcRenderer.emit(EVENT_CHANNEL, {}, { topic: 'cache.changed', payload: {} });
  expect(heard).toEqual([[{ topic: 'cache.changed', payload: {} }]]);
  expect(ipcRenderer.listenerCount(EVENT_CHANNEL)).toBe(0);
});

test('a file has its path, and one made in the page has none', async () => {
  const { bridge, paths } = await preload();
  const file = {};
  paths.set(file, '/home/a.pdf');
  expect(bridge.pathOf(file)).toBe('/home/a.pdf');
  expect(bridge.pathOf({})).toBeUndefined();
});
