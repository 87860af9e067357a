/**
 * A fake of the module `electron`, whose binary may be missing in tests: records calls, and lets a test simulate the
 * system. It implements Electron's own types, against which the host is compiled.
 */
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type {
  BrowserWindowConstructorOptions,
  CustomScheme,
  MenuItemConstructorOptions,
  MessageBoxOptions,
  OpenDialogOptions,
  Rectangle,
} from 'electron';

type Handler = (event: unknown, ...args: unknown[]) => unknown;
type PermissionRequest = (contents: unknown, permission: string, answer: (granted: boolean) => void) => void;
type PermissionCheck = (contents: unknown, permission: string) => boolean;

export class FakeWebContents extends EventEmitter {
  readonly sent: [channel: string, message: unknown][] = [];
  url = '';
  openHandler: ((details: { url: string }) => { action: string }) | undefined;
  destroyed = false;

  readonly mainFrame = { parent: null, url: '' };

  send(channel: string, message: unknown): void {
    this.sent.push([channel, message]);
  }
  getURL(): string {
    return this.url;
  }
  isDestroyed(): boolean {
    return this.destroyed;
  }
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.openHandler = handler;
  }
}

/** A window that immediately shows the page it loads. */
class FakeBrowserWindow extends EventEmitter {
  readonly webContents = new FakeWebContents();
  readonly options: BrowserWindowConstructorOptions;
  readonly calls: string[] = [];
  maximized = false;
  minimized = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
  }

  loadURL(url: string): Promise<void> {
    this.webContents.url = url;
    this.webContents.mainFrame.url = url;
    return Promise.resolve();
  }
  getNormalBounds(): Rectangle {
    return { x: 10, y: 20, width: 900, height: 700 };
  }
  isMaximized(): boolean {
    return this.maximized;
  }
  isMinimized(): boolean {
    return this.minimized;
  }
  show(): void {
    this.calls.push('show');
  }
  focus(): void {
    this.calls.push('focus');
  }
  restore(): void {
    this.minimized = false;
  }
  maximize(): void {
    this.maximized = true;
  }
  reload(): void {
    this.calls.push('reload');
  }
  destroy(): void {
    this.calls.push('destroy');
    this.emit('closed');
  }
}

/** A passive utility process. */
class FakeUtilityProcess extends EventEmitter {
  readonly stderr = new PassThrough();
  readonly posted: unknown[] = [];
  readonly fork: unknown[];

  constructor(fork: unknown[]) {
    super();
    this.fork = fork;
  }

  postMessage(message: unknown): void {
    this.posted.push(message);
  }
  kill(): boolean {
    this.emit('exit', 143);
    return true;
  }
}

class FakeElectronApp extends EventEmitter {
  isPackaged = false;
  locale = 'en-US';
  locked = true;
  readonly paths: Record<string, string> = {};
  readonly ended: string[] = [];

  whenReady(): Promise<void> {
    return Promise.resolve();
  }
  getLocale(): string {
    return this.locale;
  }
  setPath(name: string, path: string): void {
    this.paths[name] = path;
  }
  requestSingleInstanceLock(): boolean {
    return this.locked;
  }
  relaunch(): void {
    this.ended.push('relaunch');
  }
  quit(): void {
    this.ended.push('quit');
  }
  exit(code: number): void {
    this.ended.push(`exit ${code}`);
  }
}

/** What a test sees and does as the system. */
export class FakeElectron {
  readonly app = new FakeElectronApp();
  readonly windows: FakeBrowserWindow[] = [];
  readonly handlers = new Map<string, Handler>();
  readonly schemes: CustomScheme[] = [];
  readonly protocols = new Map<string, (request: Request) => Promise<Response>>();
  readonly errors: [title: string, content: string][] = [];
  readonly questions: MessageBoxOptions[] = [];
  readonly opened: string[] = [];
  readonly shown: string[] = [];
  readonly utilities: FakeUtilityProcess[] = [];
  readonly openDialogs: OpenDialogOptions[] = [];
  menu: MenuItemConstructorOptions[] = [];
  popups = 0;
  displays: { workArea: Rectangle }[] = [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }];
  /** The user's choice in the next dialog: a button, or files. */
  button = 1;
  files: string[] = [];
  permissionRequest: PermissionRequest | undefined;
  permissionCheck: PermissionCheck | undefined;
  devicePermission: (() => boolean) | undefined;

  get window(): FakeBrowserWindow {
    const window = this.windows.at(-1);
    if (!window) throw new Error('no window was made');
    return window;
  }

  /** A call as a window makes it. */
  invoke(channel: string, sender: FakeWebContents, senderFrame: unknown, ...args: unknown[]): unknown {
    const handler = this.handlers.get(channel);
    if (!handler) throw new Error(`nothing handles ${channel}`);
    return handler({ sender, senderFrame }, ...args);
  }

  /** The backend that keeps the encryption key, as Electron names it on Linux. */
  keyring = 'gnome_libsecret';

  /** The module. */
  battery = false;
  readonly module = {
    app: this.app,
    BrowserWindow: this.#windowClass(),
    Menu: {
      buildFromTemplate: (template: MenuItemConstructorOptions[]) => ({
        template,
        popup: () => this.popups++,
      }),
      setApplicationMenu: (menu: { template: MenuItemConstructorOptions[] }) => (this.menu = menu.template),
    },
    dialog: {
      showErrorBox: (title: string, content: string) => this.errors.push([title, content]),
      showMessageBox: (...args: unknown[]) => {
        this.questions.push(args.at(-1) as MessageBoxOptions);
        return Promise.resolve({ response: this.button });
      },
      showOpenDialog: (...args: unknown[]) => {
        this.openDialogs.push(args.at(-1) as OpenDialogOptions);
        return Promise.resolve({ canceled: this.files.length === 0, filePaths: this.files });
      },
    },
    powerMonitor: { isOnBatteryPower: () => this.battery },
    safeStorage: {
      getSelectedStorageBackend: () => this.keyring,
      isAsyncEncryptionAvailable: () => Promise.resolve(this.keyring !== 'unknown'),
      encryptStringAsync: (text: string) => Promise.resolve(Buffer.from(text).reverse()),
      decryptStringAsync: (encrypted: Buffer) =>
        Promise.resolve({ result: Buffer.from(encrypted).reverse().toString(), shouldReEncrypt: false }),
    },
    ipcMain: { handle: (channel: string, handler: Handler) => this.handlers.set(channel, handler) },
    net: {
      fetch: async (url: string) => new Response(await readFile(fileURLToPath(url))),
    },
    protocol: {
      registerSchemesAsPrivileged: (schemes: CustomScheme[]) => this.schemes.push(...schemes),
      handle: (scheme: string, handler: (request: Request) => Promise<Response>) =>
        this.protocols.set(scheme, handler),
    },
    screen: { getAllDisplays: () => this.displays },
    session: {
      defaultSession: {
        setPermissionRequestHandler: (handler: PermissionRequest) => (this.permissionRequest = handler),
        setPermissionCheckHandler: (handler: PermissionCheck) => (this.permissionCheck = handler),
        setDevicePermissionHandler: (handler: () => boolean) => (this.devicePermission = handler),
      },
    },
    utilityProcess: {
      fork: (...args: unknown[]) => {
        const child = new FakeUtilityProcess(args);
        this.utilities.push(child);
        return child;
      },
    },
    shell: {
      openExternal: (url: string) => Promise.resolve(void this.opened.push(url)),
      showItemInFolder: (path: string) => void this.shown.push(path),
    },
  };

  #windowClass(): unknown {
    const { windows, app } = this;
    return class extends FakeBrowserWindow {
      constructor(options: BrowserWindowConstructorOptions) {
        super(options);
        windows.push(this);
        app.emit('web-contents-created', {}, this.webContents);
      }
    };
  }
}
