import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { Bridge, CallResult } from '../../../src-shared/contract/bridge.ts';
import type { KvasirEvent } from '../../../src-shared/contract/events.ts';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';

/** All that the window gets of Electron. */
const bridge: Bridge<File> = {
  call: (name, input) => ipcRenderer.invoke(CALL_CHANNEL, name, input) as Promise<CallResult>,
  onEvent: (listener) => {
    // Not `listener` itself: it would be handed Electron's event, and the sender with it.
    const forward = (_: unknown, event: KvasirEvent): void => listener(event);
    ipcRenderer.on(EVENT_CHANNEL, forward);
    return () => ipcRenderer.off(EVENT_CHANNEL, forward);
  },
  // The core lives as long as the window.
  onConnection: () => () => undefined,
  // Empty for a file that was made in the window and is on no disk.
  pathOf: (file) => webUtils.getPathForFile(file) || undefined,
};

contextBridge.exposeInMainWorld('kvasir', bridge);
