import type { MenuItemConstructorOptions } from 'electron';
import type { Words } from './words.ts';

interface MenuActions {
  /** Shows a route in the window. */
  goTo: (route: string) => void;
  addDocuments: () => void;
}

interface MenuEnvironment {
  platform: NodeJS.Platform;
  /** Whether this is the installed app, whose users need no developer tools. */
  packaged: boolean;
}

type Item = MenuItemConstructorOptions;

const SEPARATOR: Item = { type: 'separator' };

/** The application's menu, by the platform's conventions. */
export function menuTemplate(words: Words, actions: MenuActions, surroundings: MenuEnvironment): Item[] {
  const mac = surroundings.platform === 'darwin';
  return [
    ...(mac ? [appMenu(words, actions)] : []),
    fileMenu(words, actions, mac),
    { label: words.edit, submenu: editItems(words) },
    viewMenu(words, surroundings),
    goMenu(words, actions),
    windowMenu(words, mac),
  ];
}

export function editItems(words: Words): Item[] {
  return [
    { role: 'undo', label: words.undo },
    { role: 'redo', label: words.redo },
    SEPARATOR,
    { role: 'cut', label: words.cut },
    { role: 'copy', label: words.copy },
    { role: 'paste', label: words.paste },
    { role: 'selectAll', label: words.selectAll },
  ];
}

function appMenu(words: Words, { goTo }: MenuActions): Item {
  return {
    label: 'Kvasir',
    submenu: [
      { role: 'about', label: words.about },
      SEPARATOR,
      settingsItem(words, goTo),
      SEPARATOR,
      { role: 'services', label: words.services },
      SEPARATOR,
      { role: 'hide', label: words.hide },
      { role: 'hideOthers', label: words.hideOthers },
      { role: 'unhide', label: words.showAll },
      SEPARATOR,
      { role: 'quit', label: words.quit },
    ],
  };
}

function fileMenu(words: Words, { goTo, addDocuments }: MenuActions, mac: boolean): Item {
  return {
    label: words.file,
    submenu: [
      { label: words.newConversation, accelerator: 'CmdOrCtrl+N', click: () => goTo('/') },
      { label: words.addDocuments, accelerator: 'CmdOrCtrl+O', click: () => addDocuments() },
      SEPARATOR,
      ...(mac
        ? [{ role: 'close', label: words.close } satisfies Item]
        : [settingsItem(words, goTo), SEPARATOR, { role: 'quit', label: words.quit } satisfies Item]),
    ],
  };
}

function settingsItem(words: Words, goTo: MenuActions['goTo']): Item {
  return { label: words.settings, accelerator: 'CmdOrCtrl+,', click: () => goTo('/settings') };
}

function viewMenu(words: Words, { packaged }: MenuEnvironment): Item {
  const forDevelopers: Item[] = [
    SEPARATOR,
    { role: 'reload', label: words.reload },
    { role: 'toggleDevTools', label: words.developerTools },
  ];
  return {
    label: words.view,
    submenu: [
      { role: 'resetZoom', label: words.actualSize },
      { role: 'zoomIn', label: words.zoomIn },
      { role: 'zoomOut', label: words.zoomOut },
      SEPARATOR,
      { role: 'togglefullscreen', label: words.fullScreen },
      ...(packaged ? [] : forDevelopers),
    ],
  };
}

function goMenu(words: Words, { goTo }: MenuActions): Item {
  const places: [string, string][] = [
    [words.chat, '/'],
    [words.library, '/library'],
    [words.search, '/search'],
    [words.cache, '/cache'],
    [words.models, '/models'],
  ];
  return {
    label: words.go,
    submenu: places.map(([label, route], i) => ({
      label,
      accelerator: `CmdOrCtrl+${i + 1}`,
      click: () => goTo(route),
    })),
  };
}

function windowMenu(words: Words, mac: boolean): Item {
  return {
    role: 'windowMenu',
    label: words.window,
    submenu: [
      { role: 'minimize', label: words.minimize },
      ...(mac ? [{ role: 'zoom', label: words.zoom } satisfies Item] : []),
      { role: 'close', label: words.close },
    ],
  };
}
