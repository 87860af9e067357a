import type { CallResult, Connection, UploadOptions } from '../../src-shared/contract/bridge.ts';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { SocketCalls } from '../../src-shared/contract/socket-calls.ts';
import type { FileBridge } from './client.ts';

const RECONNECT_MS = [250, 500, 1000, 2000, 4000];

const LOST: CallResult = {
  ok: false,
  error: {
    code: 'CONNECTION_LOST',
    message: 'The connection to Kvasir was lost before it answered.',
    advice: 'Check that Kvasir is still running; the page connects again by itself.',
  },
};

/** The server host's bridge: a WebSocket that reconnects automatically; files are uploaded over HTTP. */
export class SocketBridge implements FileBridge {
  readonly #calls = new SocketCalls();
  readonly #connections = new Set<(connection: Connection) => void>();
  readonly #unsent = new Map<number, string>();
  #socket: WebSocket | undefined;
  #failures = 0;

  constructor() {
    this.#open();
  }

  call(name: string, input: unknown): Promise<CallResult> {
    return this.#calls.call(name, input, (text, id) => {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
      else this.#unsent.set(id, text);
    });
  }

  onEvent(listener: (event: KvasirEvent) => void): () => void {
    return this.#calls.onEvent(listener);
  }

  onConnection(listener: (connection: Connection) => void): () => void {
    this.#connections.add(listener);
    return () => this.#connections.delete(listener);
  }

  pathOf(): undefined {
    return undefined;
  }

  upload(file: File, { target, onProgress, signal }: UploadOptions): Promise<CallResult> {
    // fetch() does not report upload progress.
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open('PUT', `./upload?${uploadQuery(file, target).toString()}`);
      request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
      request.onload = () => resolve(parseReply(request.responseText));
      request.onerror = () => resolve(LOST);
      request.onabort = () =>
        resolve({ ok: false, error: { code: 'ABORTED', message: 'The upload was stopped.', advice: '' } });
      signal?.addEventListener('abort', () => request.abort());
      request.send(file);
    });
  }

  #open(): void {
    // Relative to the page, whose path is secret.
    const address = new URL('./socket', location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.onopen = () => {
      this.#failures = 0;
      for (const text of this.#unsent.values()) socket.send(text);
      this.#unsent.clear();
      this.#tell('open');
    };
    socket.onmessage = ({ data }) => this.#calls.receive(String(data));
    socket.onclose = () => {
      this.#calls.fail(LOST, this.#unsent);
      void this.#afterLoss();
    };
  }

  /** A WebSocket does not report why it was refused; an HTTP request does. */
  async #afterLoss(): Promise<void> {
    this.#tell('lost');
    const reply = await fetch('./', { method: 'HEAD' }).catch(() => undefined);
    if (reply?.status === 401) {
      // Pending calls will never be sent, so they must be rejected.
      this.#unsent.clear();
      this.#calls.fail(LOST);
      this.#tell('expired');
      return;
    }
    setTimeout(() => this.#open(), RECONNECT_MS[Math.min(this.#failures++, RECONNECT_MS.length - 1)]);
  }

  #tell(connection: Connection): void {
    for (const listener of this.#connections) listener(connection);
  }
}

function uploadQuery(file: File, target: UploadOptions['target']): URLSearchParams {
  if ('libraryId' in target) return new URLSearchParams({ library: target.libraryId, path: target.path });
  return new URLSearchParams('model' in target ? { model: file.name } : { backup: file.name });
}

function parseReply(text: string): CallResult {
  try {
    return JSON.parse(text) as CallResult;
  } catch {
    return LOST;
  }
}
