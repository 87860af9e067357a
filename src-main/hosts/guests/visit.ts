import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import {
  GuestMessageSchema,
  parts,
  receive,
  send,
  type GuestMessage,
  type CommandStart,
} from './protocol.ts';

/** One of a guest's output streams. */
export type Screen = Writable & { readonly isTTY: boolean; readonly columns?: number | undefined };

/** Another process's command line, to be run here. */
export interface GuestCommand extends Pick<CommandStart, 'argv' | 'cwd' | 'color' | 'display'> {
  stdin: Readable & { readonly isTTY: boolean };
  stdout: Screen;
  stderr: Screen;
  /** Aborted by the guest's Ctrl-C, and when it has disconnected. */
  signal: AbortSignal;
}

/** Returns the exit status; the command's errors go to stderr. */
export type RunCommand = (command: GuestCommand) => Promise<number>;

/** Timeout in milliseconds for a guest's greeting. */
const GREETING_MS = 5000;
/** A guest that leaves this many bytes unread is considered dead. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** One guest, from its greeting until its command has ended. */
export class Visit {
  /** Resolves when it has ended completely. */
  readonly done: Promise<void>;
  readonly #socket: Socket;
  readonly #token: string;
  readonly #run: RunCommand;
  readonly #abort = new AbortController();
  readonly #greeting: NodeJS.Timeout;
  #stdin: Readable | undefined;
  #running: Promise<void> | undefined;

  constructor(socket: Socket, token: string, run: RunCommand) {
    this.#socket = socket;
    this.#token = token;
    this.#run = run;
    this.#greeting = setTimeout(() => socket.destroy(), GREETING_MS);
    receive(socket, GuestMessageSchema, (message) => this.#take(message));
    socket.on('error', () => undefined); // 'close' follows
    this.done = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() =>
      this.#left(),
    );
  }

  /** This process ends: the guest notices the closed connection. */
  end(): void {
    this.#socket.destroy();
  }

  async #left(): Promise<void> {
    clearTimeout(this.#greeting);
    this.#abort.abort();
    this.#stdin?.destroy();
    await this.#running;
  }

  #take(message: GuestMessage): void {
    if (message.type === 'start') return this.#start(message);
    if (!this.#running) return void this.#socket.destroy();
    if (message.type === 'stop') this.#abort.abort();
    else this.#stdin?.push(message.type === 'input' ? message.text : null);
  }

  #start(start: CommandStart): void {
    if (this.#running || !isSame(start.token, this.#token)) return void this.#socket.destroy();
    clearTimeout(this.#greeting);
    send(this.#socket, { type: 'accepted' });
    const stdin = this.#input(start);
    this.#stdin = stdin;
    const { argv, cwd, color, display } = start;
    const [stdout, stderr] = [this.#screen('out', start.stdout), this.#screen('err', start.stderr)];
    const { signal } = this.#abort;
    this.#running = this.#run({ argv, cwd, color, display, stdin, stdout, stderr, signal }).then(
      (code) => {
        send(this.#socket, { type: 'exit', code });
        this.#socket.end();
      },
      (error: unknown) => {
        this.#socket.destroy();
        throw error;
      },
    );
    this.#running.catch(() => undefined); // reported by `done`
  }

  /** Requested only when the command reads it, so that input for the shell's next command is left alone. */
  #input({ stdin: { isTTY } }: CommandStart): GuestCommand['stdin'] {
    let asked = false;
    const read = (): void => {
      if (!asked) send(this.#socket, { type: 'read' });
      asked = true;
    };
    return Object.assign(new Readable({ read }), { isTTY });
  }

  #screen(type: 'out' | 'err', { isTTY, columns }: CommandStart['stdout']): Screen {
    const screen = new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, written) => {
        for (const text of parts(chunk.toString())) send(this.#socket, { type, text });
        if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#socket.destroy();
        written();
      },
    });
    return Object.assign(screen, { isTTY, columns });
  }
}

/** In constant time. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [given, token].map((each) => createHash('sha256').update(each).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
