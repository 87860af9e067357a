import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { KvasirError } from '../../../src-shared/errors.ts';
import { readHostFile } from './host-file.ts';
import { HostMessageSchema, parts, receive, send, type HostMessage, type CommandStart } from './protocol.ts';

interface OutputStream {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): boolean;
  once(event: 'drain', listener: () => void): unknown;
}

/** This process's command line and its streams. */
export interface ForwardedCommand extends Pick<CommandStart, 'argv' | 'cwd' | 'color' | 'display'> {
  stdin: Readable & { isTTY?: boolean | undefined };
  stdout: OutputStream;
  stderr: OutputStream;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
}

/**
 * Timeout in milliseconds for an owner to accept a command: for a suspended one, the system accepts connections, but
 * nothing responds.
 */
const ACCEPTED_MS = 5000;

/**
 * Has the process that owns a data folder run a command line, and returns its exit status. undefined: it was not
 * accepted, because the owner has another version, is starting or ending, does not respond, or accepts no guests.
 * CONNECTION_LOST if the owner ended before the command did.
 */
export async function handOver(
  data: string,
  version: string,
  command: ForwardedCommand,
  acceptedMs = ACCEPTED_MS,
): Promise<number | undefined> {
  const host = readHostFile(data);
  if (host?.program !== version) return undefined;
  const socket = connect(host.socket);
  try {
    return await new Guest(socket, host.token, command, acceptedMs).done;
  } finally {
    socket.destroy();
  }
}

class Guest {
  readonly done: Promise<number | undefined>;
  readonly #socket: Socket;
  readonly #command: ForwardedCommand;
  readonly #unaccepted: NodeJS.Timeout;
  #accepted = false;
  #exitCode: number | undefined;

  constructor(socket: Socket, token: string, command: ForwardedCommand, acceptedMs: number) {
    this.#socket = socket;
    this.#command = command;
    this.#unaccepted = setTimeout(() => socket.destroy(), acceptedMs);
    const { argv, cwd, color, display, stdin, signal } = command;
    const [stdout, stderr] = [factsOf(command.stdout), factsOf(command.stderr)];
    receive(socket, HostMessageSchema, (message) => this.#take(message));
    socket.on('error', () => undefined); // 'close' follows
    const stop = (): void => {
      if (this.#accepted) send(socket, { type: 'stop' });
      else socket.destroy();
    };
    this.done = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() => {
      signal.removeEventListener('abort', stop);
      return this.#outcome();
    });
    const facts = { argv, cwd, color, display, stdout, stderr, stdin: { isTTY: stdin.isTTY === true } };
    send(socket, { type: 'start', token, ...facts });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  }

  #outcome(): number | undefined {
    clearTimeout(this.#unaccepted);
    this.#leaveInput();
    if (this.#exitCode === undefined && this.#accepted) throw lost();
    return this.#exitCode;
  }

  #take(message: HostMessage): void {
    switch (message.type) {
      case 'accepted':
        this.#accepted = true;
        clearTimeout(this.#unaccepted);
        break;
      case 'out':
        this.#write(this.#command.stdout, message.text);
        break;
      case 'err':
        this.#write(this.#command.stderr, message.text);
        break;
      case 'read':
        this.#read();
        break;
      case 'exit':
        this.#exitCode = message.code;
    }
  }

  /** Writes no faster than the reader consumes. */
  #write(stream: OutputStream, text: string): void {
    if (stream.write(text)) return;
    this.#socket.pause();
    stream.once('drain', () => this.#socket.resume());
  }

  #read(): void {
    const { stdin } = this.#command;
    stdin.setEncoding('utf8');
    stdin.on('data', this.#onInput);
    stdin.once('end', this.#onInputEnd);
  }

  readonly #onInput = (text: string): void => {
    for (const part of parts(text)) send(this.#socket, { type: 'input', text: part });
  };

  readonly #onInputEnd = (): void => send(this.#socket, { type: 'input-end' });

  #leaveInput(): void {
    const { stdin } = this.#command;
    stdin.off('data', this.#onInput);
    stdin.off('end', this.#onInputEnd);
    stdin.pause();
  }
}

function factsOf({ isTTY, columns }: OutputStream): CommandStart['stdout'] {
  return { isTTY: isTTY === true, ...(columns !== undefined && columns > 0 && { columns }) };
}

function lost(): KvasirError {
  return new KvasirError(
    'CONNECTION_LOST',
    'The Kvasir that ran this command has ended before it was done.',
    'Run the command again.',
  );
}
