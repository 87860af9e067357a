import { ipcMain, type IpcMainInvokeEvent, type WebContents } from 'electron';
import type { CallResult } from '../../../src-shared/contract/bridge.ts';
import type { Api } from '../../api/api.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import type { Logger } from '../../platform/logger.ts';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.ts';
import { isWindowAddress } from './scheme.ts';

const NOT_THE_WINDOW: CallResult = {
  ok: false,
  error: { code: 'BAD_ARGUMENT', message: "Only Kvasir's own window can ask this.", advice: '' },
};

interface IpcOptions {
  api: Api;
  events: EventBus;
  log: Logger;
  windows: () => readonly WebContents[];
  /** A window made its first call, so it listens to events. */
  onFirstCall: () => void;
}

/** Connects the windows to the core: calls to it, events from it. */
export function connectWindows({ api, events, log, windows, onFirstCall }: IpcOptions): void {
  const known = new WeakSet<WebContents>();
  ipcMain.handle(CALL_CHANNEL, async (event, name: unknown, input: unknown): Promise<CallResult> => {
    if (!isFromWindow(event, windows())) {
      log.warn('call-from-stranger', { frame: event.senderFrame?.url });
      return NOT_THE_WINDOW;
    }
    const result = api.call(name, input);
    if (!known.has(event.sender)) {
      known.add(event.sender);
      onFirstCall();
    }
    return result;
  });
  events.on((event) => {
    for (const contents of windows()) if (!contents.isDestroyed()) contents.send(EVENT_CHANNEL, event);
  });
}

/** Accepts only the top frame of one of our windows showing our page: no subframes, no other pages. */
function isFromWindow({ sender, senderFrame }: IpcMainInvokeEvent, windows: readonly WebContents[]): boolean {
  return (
    senderFrame !== null &&
    senderFrame.parent === null &&
    isWindowAddress(senderFrame.url) &&
    windows.includes(sender)
  );
}
