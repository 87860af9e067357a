import { BrowserWindow, Menu, screen } from 'electron';
import { editItems } from './menu.ts';
import { readWindowState, writeWindowState } from './window-state.ts';
import type { Words } from './words.ts';

interface WindowOptions {
  /** URL of the page. */
  address: string;
  /** undefined for a page served by another process: it connects to that process itself. */
  preload: string | undefined;
  /** File that stores the window's position. */
  statePath: string;
  devTools: boolean;
  words: () => Words;
}

const USUAL_SIZE = { width: 1280, height: 820 };
const LEAST_SIZE = { minWidth: 720, minHeight: 480 };

/** Kvasir's window: its page has no access to Node, and only to the parts of Electron in the preload script. */
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
      // Its dictionaries would be downloaded.
      spellcheck: false,
      devTools,
    },
  });
  if (state?.maximized) window.maximize();
  // Shown once there is content.
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
