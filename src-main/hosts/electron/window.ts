import { BrowserWindow, Menu, screen } from 'electron';
import { editItems } from './menu.ts';
import { readWindowState, writeWindowState } from './window-state.ts';
import type { Words } from './words.ts';

interface WindowOptions {
  /** What is shown. */
  address: string;
  /** undefined for a page that is served by another process: it asks that one, by its own connection. */
  preload: string | undefined;
  /** File that keeps where the window stood. */
  statePath: string;
  devTools: boolean;
  words: () => Words;
}

const USUAL_SIZE = { width: 1280, height: 820 };
const LEAST_SIZE = { minWidth: 720, minHeight: 480 };

/** Kvasir's window: its page gets nothing of Node, and of Electron what the preload script hands it. */
export function createWindow({ address, preload, statePath, devTools, words }: WindowOptions): BrowserWindow {
  const workAreas = screen.getAllDisplays().map(({ workArea }) => workArea);
  const state = readWindowState(statePath, workAreas);
  const window = new BrowserWindow({
    ...(state?.bounds ?? USUAL_SIZE),
    ...LEAST_SIZE,
    title: 'Kvasir',
    show: false,
    webPreferences: {
      ...(preload !== undefined && { preload }),
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
      // Its dictionaries would be fetched from the network.
      spellcheck: false,
      devTools,
    },
  });
  if (state?.maximized) window.maximize();
  // Shown once there is something to show.
  window.once('ready-to-show', () => window.show());
  window.on('close', () =>
    writeWindowState(statePath, { bounds: window.getNormalBounds(), maximized: window.isMaximized() }),
  );
  window.webContents.on('context-menu', (_, { isEditable, selectionText }) => {
    if (isEditable || selectionText !== '') Menu.buildFromTemplate(editItems(words())).popup({ window });
  });
  void window.loadURL(address);
  return window;
}
