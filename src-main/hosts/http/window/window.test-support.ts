import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { CallResult } from '../../../../src-shared/contract/bridge.ts';
import type { Handlers } from '../../../../src-shared/contract/contract.ts';
import type { KvasirEvent } from '../../../../src-shared/contract/events.ts';
import { createApi } from '../../../api/api.ts';
import type { DocumentViews } from '../../../library/document-views.ts';
import { EventBus } from '../../../platform/event-bus.ts';
import { silentLogger } from '../../../platform/logger.ts';
import { startServer, type RunningServer } from './server.ts';
import type { UploadPlaces } from './transfers.ts';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

export interface TestServer {
  server: RunningServer;
  events: EventBus;
  dir: string;
  /** The window's origin. */
  origin: string;
  /** The secret path prefix. */
  base: string;
  /** Plain HTTP to a path below the secret one, or with the one-time token; headers exactly as given. */
  send: (path: string, options?: RequestOptions) => Promise<Reply>;
  /** The Cookie header of a client that used the one-time URL. */
  enter: () => Promise<string>;
  /** A window's socket; headers replace the window's own. */
  open: (headers?: Record<string, string>) => Promise<TestWindow>;
}

const INDEX_HTML =
  '<!doctype html><meta name="csp-nonce" content="%KVASIR_NONCE%"><script type="module" src="./assets/app-1a2b.js"></script>';

export async function testServer(
  handlers: Partial<Handlers> = {},
  receiveDocument: UploadPlaces['receiveDocument'] = () => Promise.resolve('1'),
  port = 0,
  views?: DocumentViews,
): Promise<TestServer> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-server-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const rendererDir = join(dir, 'renderer');
  mkdirSync(join(rendererDir, 'assets'), { recursive: true });
  writeFileSync(join(rendererDir, 'index.html'), INDEX_HTML);
  writeFileSync(join(rendererDir, 'assets', 'app-1a2b.js'), 'document.title = "window";');
  writeFileSync(join(dir, 'secret.txt'), 'treasure');
  const events = new EventBus();
  const server = await startServer({
    // A test calls only the handlers it passes.
    api: createApi(handlers as Handlers, silentLogger),
    events,
    uploads: { receiveDocument, modelsDir: join(dir, 'models'), backupsDir: join(dir, 'backups') },
    // A test shows only documents that it has.
    views: views as DocumentViews,
    rendererDir,
    log: silentLogger,
    port,
  });
  onTestFinished(() => server.close());
  const origin = `http://127.0.0.1:${server.port}`;
  // As a browser learns it; with a separate token, which newer ones do not displace.
  const { headers: arrived } = await sendTo(server.port, `/${new URL(server.newAddress()).search}`, {});
  const base = arrived.location ?? '';
  const send = (path: string, options: RequestOptions = {}): Promise<Reply> =>
    sendTo(server.port, path.startsWith('/?token') ? path : base + path.slice(1), options);
  const enter = async (): Promise<string> => {
    const address = new URL(server.newAddress());
    const { headers } = await send(address.pathname + address.search);
    return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  };
  const open = async (headers?: Record<string, string>): Promise<TestWindow> =>
    TestWindow.open(server.port, headers ?? { Origin: origin, Cookie: await enter() }, `${base}socket`);
  return { server, events, dir, origin, base, send, enter, open };
}

export function sendTo(port: number, path: string, options: RequestOptions): Promise<Reply> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The browser's end of a WebSocket. */
export class TestWindow {
  readonly socket: WebSocket;
  readonly events: KvasirEvent[] = [];
  /** The code with which the server closed the connection. */
  readonly closed: Promise<number>;
  readonly #waiting = new Map<number, (result: CallResult) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as KvasirEvent | (CallResult & { id: number });
      if ('topic' in message) this.events.push(message);
      else {
        const { id, ...result } = message;
        this.#waiting.get(id)?.(result);
      }
    });
  }

  /** Rejects with the status of a refusal in its message. */
  static async open(port: number, headers: Record<string, string>, path: string): Promise<TestWindow> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    const window = new TestWindow(socket);
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    return window;
  }

  call(name: string, input?: unknown): Promise<CallResult> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.socket.send(JSON.stringify({ id, name, input }));
    });
  }
}
