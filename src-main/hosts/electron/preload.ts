import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { Bridge, CallResult } from '../../../src-shared/contract/bridge.ts';
import type { KvasirEvent } from '../../../src-shared/contract/events.ts';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';

/** The only part of Electron that the window can access. */
const bridge: Bridge<File> = {
  call: (name, input) => ipcRenderer.invoke(CALL_CHANNEL, name, input) as Promise<CallResult>,
  onEvent: (listener) => {
    // Not `listener` itself: it would receive Electron's event, which includes the sender.
    const forward = (_: unknown, event: KvasirEvent): void => listener(event);
    ipcRenderer.on(EVENT_CHANNEL, forward);
    return () => ipcRenderer.off(EVENT_CHANNEL, forward);
  },
  // The core lives as long as the window.
  onConnection: () => () => undefined,
  // Empty for a file that was created in the window and is not on disk.
  pathOf: (file) => webUtils.getPathForFile(file) || undefined,
};

contextBridge.exposeInMainWorld('kvasir', bridge);
