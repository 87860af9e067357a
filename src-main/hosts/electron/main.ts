// The desktop app: its set-up, in order.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { app, dialog, Menu, powerMonitor, type BrowserWindow } from 'electron';
import { createApi } from '../../api/api.ts';
import { createHandlers } from '../../api/handlers.ts';
import { App } from '../../app.ts';
import { askDevicesIn } from '../../devices/trial/ask-devices.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { tryFileIn } from '../../models/loader/trial/try-file.ts';
import { logDefects } from '../../platform/defects.ts';
import { defaultDataDir, ensureWritableDir } from '../../platform/paths.ts';
import { appRoot, programVersion } from '../../platform/root.ts';
import { ownerFailure } from '../client/host-file.ts';
import { desktopServices, failToStart, sentences } from './dialogs.ts';
import { denyPermissions, guardContents } from './guards.ts';
import { connectWindows } from './ipc.ts';
import { systemKeyring } from './keyring.ts';
import { menuTemplate } from './menu.ts';
import { OpenRequests, readArguments } from './open-files.ts';
import { spawnParserChild, spawnQueryChild } from './parser-child.ts';
import { spawnDeviceTrialChild, spawnTrialChild } from './trial-child.ts';
import { askOwner } from './owners-window.ts';
import { isWindowAddress, registerScheme, serveWindow, WINDOW_ADDRESS } from './scheme.ts';
import { hasFeed, Updates, type Updater } from './updates.ts';
import { createWindow } from './window.ts';
import { wordsFor, type Words } from './words.ts';

const launch = readArguments(process.argv, process.cwd());
const dataDir = launch.dataDir ?? defaultDataDir();
const requests = new OpenRequests();
/** Time in milliseconds for an owner of the data folder to start or to end. */
const PATIENCE_MS = 5000;
/** The same for another program that uses a database, such as a backup. */
const HELD_MS = 60_000;
const RETRY_MS = 100;

let core: App | undefined;
let window: BrowserWindow | undefined;
/** The window of the process that owns the data folder, and its origin. */
let owners: { window: BrowserWindow; origin: string | undefined } | undefined;
let guests: { close(): Promise<void> } | undefined;

const words = (): Words => wordsFor(core?.settings.current.language ?? 'system', app.getLocale());

registerScheme();
guardContents(words, isOurs);
process.on('uncaughtException', reportDefect);
app.on('open-file', (event, path) => {
  event.preventDefault();
  requests.open([path]);
  showWindow();
});
app.on('second-instance', (_, args, workingDir) => {
  requests.open(readArguments(args, workingDir).paths);
  showWindow();
});
app.on('activate', showWindow);
app.on('window-all-closed', () => {
  if (process.platform !== 'darwin') app.quit();
});
app.on('will-quit', closeCoreFirst);

if (claimDataDir()) {
  requests.open(launch.paths);
  app
    .whenReady()
    .then(openCore)
    .then(openKvasir)
    .catch((error: unknown) => failToStart(error, words()));
}

/** One Kvasir per data folder: a second one hands its files to the first and ends. */
function claimDataDir(): boolean {
  try {
    const chromiumDir = join(dataDir, 'electron');
    ensureWritableDir(chromiumDir);
    app.setPath('userData', chromiumDir);
  } catch (error) {
    failToStart(error, words());
    return false;
  }
  if (app.requestSingleInstanceLock()) return true;
  app.quit();
  return false;
}

function isOurs(address: string): boolean {
  return isWindowAddress(address) || (owners !== undefined && URL.parse(address)?.origin === owners.origin);
}

/** Waits while another process owns the data folder, showing its window meanwhile. Errors as App.open. */
async function openCore(): Promise<App> {
  denyPermissions(isOurs);
  for (let until = performance.now() + PATIENCE_MS; ;) {
    try {
      return await openApp();
    } catch (error) {
      if (!(error instanceof KvasirError)) throw error;
      if (error.code === 'DATABASE_HELD' && performance.now() < until + HELD_MS) continue;
      if (error.code !== 'STORE_IN_USE') throw error;
      const served = await askOwner(dataDir);
      if (served) {
        showOwnersWindow(served.address);
        await served.ended;
        until = performance.now() + PATIENCE_MS;
      } else if (performance.now() > until) throw ownerFailure(dataDir, programVersion(), error);
      await sleep(RETRY_MS);
    }
  }
}

function openApp(): Promise<App> {
  return App.open({
    dataDir,
    spawnParser: spawnParserChild,
    spawnQuery: spawnQueryChild,
    tryFile: tryFileIn(spawnTrialChild),
    askDevices: askDevicesIn(spawnDeviceTrialChild),
    keyring: systemKeyring,
    ...(process.platform !== 'linux' && { onBattery: () => powerMonitor.isOnBatteryPower() }),
  });
}

async function openKvasir(opened: App): Promise<void> {
  core = opened;
  serveWindow(join(appRoot(), 'out', 'renderer'), opened.libraries.views);
  logDefects(core.log);
  core.start();
  const { events, log, settings } = core;
  connectWindows({
    api: createApi(
      createHandlers(
        core,
        desktopServices(() => window, words),
      ),
      log,
    ),
    events,
    log,
    windows: () => (window ? [window.webContents] : []),
    onFirstCall: () => requests.deliverTo(events),
  });
  if (app.isPackaged && hasFeed(process.resourcesPath))
    new Updates({ updater, settings, events, log }).start();
  setMenu();
  settings.onChange(setMenu);
  showWindow();
  owners?.window.destroy(); // once there is another: the app ends with its last window
  owners = undefined;
  const { serveGuests } = await import('../client/serve-guests.ts');
  guests = await serveGuests(core);
}

/** Menu entries other than Kvasir's own are handled by the page. */
function showOwnersWindow(address: string): void {
  const before = owners?.window;
  const shown = newWindow(address, undefined);
  owners = { window: shown, origin: URL.parse(address)?.origin };
  before?.destroy();
  shown.on('closed', () => {
    if (owners?.window === shown && !core) app.quit();
  });
  Menu.setApplicationMenu(
    Menu.buildFromTemplate(
      menuTemplate(
        words(),
        { goTo: goToInOwners, addDocuments: () => goToInOwners('/library') },
        surroundings(),
      ),
    ),
  );
}

function goToInOwners(route: string): void {
  const contents = owners?.window.webContents;
  if (contents) void contents.loadURL(new URL(`#${route}`, contents.getURL()).href);
}

function newWindow(address: string, preload: string | undefined): BrowserWindow {
  const statePath = join(dataDir, 'window.json');
  return createWindow({ address, preload, statePath, devTools: !app.isPackaged, words });
}

function surroundings(): { platform: NodeJS.Platform; packaged: boolean } {
  return { platform: process.platform, packaged: app.isPackaged };
}

async function updater(): Promise<Updater> {
  const { default: electronUpdater } = await import('electron-updater');
  return electronUpdater.autoUpdater;
}

function setMenu(): void {
  const actions = { goTo, addDocuments: () => void addDocuments() };
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(words(), actions, surroundings())));
}

/** Brings the window to the front; creates it if there is none. */
function showWindow(): void {
  const shown = window ?? (core ? undefined : owners?.window);
  if (shown) {
    if (shown.isMinimized()) shown.restore();
    shown.focus();
    return;
  }
  if (!core) return; // still starting: it will be shown
  window = newWindow(WINDOW_ADDRESS, join(appRoot(), 'out', 'preload', 'preload.cjs'));
  window.on('closed', () => {
    window = undefined;
    requests.hold();
  });
  window.webContents.on('render-process-gone', (_, { reason }) => void windowCrashed(reason));
}

function goTo(route: string): void {
  requests.goTo(route);
  showWindow();
}

async function addDocuments(): Promise<void> {
  const paths = await desktopServices(() => window, words).choosePaths?.('documents');
  requests.open(paths ?? []);
}

/** The page's process crashed; the core continues. */
async function windowCrashed(reason: string): Promise<void> {
  if (reason === 'clean-exit' || !window) return;
  core?.log.error('window-gone', { reason });
  const { windowCrashed: message, showAgain, quit } = words();
  const buttons = [showAgain, quit];
  const { response } = await dialog.showMessageBox(window, { type: 'error', message, buttons });
  if (response === 0) window.reload();
  else app.quit();
}

/** Quits once everything is written and freed. */
function closeCoreFirst(event: { preventDefault(): void }): void {
  if (!core) return;
  event.preventDefault();
  const closing = core;
  core = undefined;
  Promise.resolve(guests?.close())
    .then(() => closing.close())
    .catch((error: unknown) => closing.log.error('close-failed', { error: String(error) }))
    .finally(() => app.quit());
}

/** Uncaught errors: the state may be inconsistent, so continuing could do harm. */
function reportDefect(error: Error): void {
  dialog.showErrorBox(words().defect, sentences(error));
  app.exit(1);
}
