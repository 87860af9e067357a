import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import { newSecret, Secrets } from '../../platform/secrets.ts';
import { MAX_MESSAGE_BYTES } from '../window/contract-socket.ts';
import { removeHostFile, removePrivateSocket, socketPlaces, writeHostFile } from './host-file.ts';

/** Timeout in milliseconds for a guest's handshake. */
const HANDSHAKE_MS = 5000;

interface GuestHostOptions {
  /** Serves one guest; resolves once it has left and everything is closed that it opened. */
  serve: (socket: WebSocket) => Promise<void>;
  /** The program's version: guests of other versions do not connect. */
  version: string;
  log: Logger;
}

/**
 * Accepts the commands of other processes as clients of this process's app. REQUIRES: this process holds the data
 * folder's lock, from before open() until after close().
 */
export class GuestHost {
  readonly #data: string;
  readonly #options: GuestHostOptions;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #token = newSecret();
  readonly #guests = new Set<WebSocket>();
  #alone: (() => void)[] = [];

  private constructor(data: string, options: GuestHostOptions) {
    this.#data = data;
    this.#options = options;
    const bounds = { headersTimeout: HANDSHAKE_MS, connectionsCheckingInterval: HANDSHAKE_MS / 4 };
    this.#server = createServer(bounds, ({ socket }) => socket.destroy())
      .on('clientError', (_, socket) => socket.destroy())
      .on('error', (error) => options.log.warn('guests-not-taken', { error: traceOf(error) }));
    const token = new Secrets([this.#token]);
    this.#server.on('upgrade', (request, socket, head) => {
      if (!token.has(request.headers.authorization ?? '')) return socket.destroy();
      this.#sockets.handleUpgrade(request, socket, head, (guest) => void this.#receive(guest));
    });
  }

  /** undefined if no socket can be created: other processes then report that the data folder is in use. */
  static async open(data: string, options: GuestHostOptions): Promise<GuestHost | undefined> {
    const host = new GuestHost(data, options);
    try {
      await host.#listen();
      return host;
    } catch (error) {
      options.log.warn('no-guests', { error: traceOf(error) });
      return undefined;
    }
  }

  /** Number of commands running for other processes. */
  get guests(): number {
    return this.#guests.size;
  }

  /** Resolves when there are none. */
  async idle(): Promise<void> {
    while (this.guests > 0) await new Promise<void>((resolve) => this.#alone.push(resolve));
  }

  /** Ends all of them, and accepts no more. */
  async close(): Promise<void> {
    const closed = this.#stopListening();
    for (const guest of this.#guests) guest.terminate();
    await closed;
    await this.idle();
    removeHostFile(this.#data);
  }

  async #stopListening(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #listen(): Promise<void> {
    removeHostFile(this.#data);
    const { version: program } = this.#options;
    let failure: unknown;
    for (const socket of socketPlaces(this.#data)) {
      try {
        await listening(this.#server, socket);
        writeHostFile(this.#data, { program, pid: process.pid, socket, token: this.#token });
        this.#server.unref(); // possible future guests do not keep a process alive
        return;
      } catch (error) {
        failure = error;
        await this.#stopListening(); // a full disk allows a socket, but not the file that announces it
        removePrivateSocket(this.#data, socket);
      }
    }
    removeHostFile(this.#data);
    throw failure;
  }

  async #receive(guest: WebSocket): Promise<void> {
    this.#guests.add(guest);
    try {
      await this.#options.serve(guest);
    } catch (error) {
      this.#options.log.error('guest-failed', { error: traceOf(error) });
    } finally {
      this.#guests.delete(guest);
      if (this.guests === 0) for (const tell of this.#alone.splice(0)) tell();
    }
  }
}

async function listening(server: Server, path: string): Promise<void> {
  const ready = once(server, 'listening');
  server.listen(path);
  await ready;
}
