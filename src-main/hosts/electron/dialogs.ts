import { app, dialog, shell, type BrowserWindow, type FileFilter, type OpenDialogOptions } from 'electron';
import type { HostServices, PathKind } from '../../api/host.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { failureOf } from '../../platform/failure.ts';
import { hasFeed } from './updates.ts';
import type { Words } from './words.ts';

/** The system's dialogs and file manager, for the window. */
export function desktopServices(window: () => BrowserWindow | undefined, words: () => Words): HostServices {
  return {
    kind: 'electron',
    updates: app.isPackaged && hasFeed(process.resourcesPath),
    choosePaths: async (kind) => {
      const options = openOptions(kind, words());
      const parent = window();
      const { canceled, filePaths } = await (parent
        ? dialog.showOpenDialog(parent, options)
        : dialog.showOpenDialog(options));
      return canceled ? [] : filePaths;
    },
    // Shown in its folder, never opened: a document may be a program.
    reveal: (path) => shell.showItemInFolder(path),
    restart: () => {
      app.relaunch();
      app.quit();
    },
  };
}

function openOptions(kind: PathKind, words: Words): OpenDialogOptions {
  const only = (name: string, ...extensions: string[]): { filters: FileFilter[] } => ({
    filters: [
      { name, extensions },
      { name: words.allFiles, extensions: ['*'] },
    ],
  });
  switch (kind) {
    case 'documents':
      return { properties: ['openFile', 'multiSelections'] };
    case 'folder':
      return { properties: ['openDirectory', 'multiSelections'] };
    case 'model':
      return { properties: ['openFile', 'multiSelections'], ...only(words.model, 'gguf') };
    case 'backup':
      return { properties: ['openFile'], ...only(words.backup, 'kvasir-backup', 'zip') };
  }
}

/** Shows why Kvasir cannot start, and ends it. */
export function failToStart(error: unknown, words: Words): void {
  dialog.showErrorBox(words.cannotStart, sentences(error));
  app.exit(1);
}

/** Message and advice; for a defect also the stack, so that it can be reported. */
export function sentences(error: unknown): string {
  const { message, advice } = failureOf(error);
  const stack = error instanceof Error && !(error instanceof KvasirError) ? error.stack : undefined;
  return [message, advice, stack].filter(Boolean).join('\n\n');
}
