import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import { removeHostFile, socketPlaces, writeHostFile } from './host-file.ts';
import { Visit, type RunCommand } from './visit.ts';

interface GuestHostOptions {
  run: RunCommand;
  /** The program's version: guests of other versions do not connect. */
  version: string;
  log: Logger;
}

/**
 * Runs other processes' command lines with this process's app. REQUIRES: this process holds the data folder's lock,
 * from before open() until after close().
 */
export class GuestHost {
  readonly #data: string;
  readonly #options: GuestHostOptions;
  readonly #server: Server;
  readonly #token = randomBytes(32).toString('base64url');
  readonly #visits = new Set<Visit>();
  #alone: (() => void)[] = [];

  private constructor(data: string, options: GuestHostOptions) {
    this.#data = data;
    this.#options = options;
    this.#server = createServer((socket) => void this.#receive(socket));
    this.#server.on('error', (error) => options.log.warn('guests-not-taken', { error: traceOf(error) }));
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
    return this.#visits.size;
  }

  /** Resolves when there are none. */
  async idle(): Promise<void> {
    while (this.#visits.size > 0) await new Promise<void>((resolve) => this.#alone.push(resolve));
  }

  /** Ends all of them, and accepts no more. */
  async close(): Promise<void> {
    const closed = this.#stopListening();
    for (const visit of this.#visits) visit.end();
    await closed;
    await this.idle();
    removeHostFile(this.#data);
  }

  async #stopListening(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
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
      }
    }
    removeHostFile(this.#data);
    throw failure;
  }

  async #receive(socket: Socket): Promise<void> {
    const visit = new Visit(socket, this.#token, this.#options.run);
    this.#visits.add(visit);
    try {
      await visit.done;
    } catch (error) {
      this.#options.log.error('guest-failed', { error: traceOf(error) });
    } finally {
      this.#visits.delete(visit);
      if (this.#visits.size === 0) for (const tell of this.#alone.splice(0)) tell();
    }
  }
}

async function listening(server: Server, path: string): Promise<void> {
  const ready = once(server, 'listening');
  server.listen(path);
  await ready;
}
