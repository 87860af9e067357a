import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import { NODE_FLAGS, PROGRAM, ROOT } from '../setup/platform.mjs';

const FILE_CALLS = join(ROOT, 'tools', 'faults', 'file-calls.mjs');
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/;
const START_MS = 120_000;

interface Reply {
  id: number;
  ok: boolean;
  data?: unknown;
  error?: { code: string; message: string };
}

/** A call that the core refused. */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** Kvasir in a separate process, with a WebSocket connection like the window's. */
export class RunningApp {
  readonly origin: string;
  /** The window's URL and the session's cookie. */
  readonly home: string;
  readonly cookie: string;
  readonly #child: ChildProcess;
  readonly #socket: WebSocket;
  static readonly #running = new Set<ChildProcess>();
  readonly #waiting = new Map<number, { resolve: (data: unknown) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  private constructor(child: ChildProcess, socket: WebSocket, place: { home: string; cookie: string }) {
    this.#child = child;
    this.#socket = socket;
    this.home = place.home;
    this.cookie = place.cookie;
    this.origin = new URL(place.home).origin;
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Partial<Reply>));
    socket.on('close', () => this.#lose());
    socket.on('error', () => undefined);
  }

  /** `faults` are variables for file-calls.mjs. Rejects with the process's output if it does not start. */
  static async start(data: string, faults: Record<string, string> = {}): Promise<RunningApp> {
    const child = spawn(
      process.execPath,
      [...NODE_FLAGS, '--import', FILE_CALLS, PROGRAM, 'serve', '--no-open', '--data', data],
      {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, KVASIR_MODELS_HOME: '/no-models-here', ...faults },
      },
    );
    RunningApp.#running.add(child);
    child.once('exit', () => RunningApp.#running.delete(child));
    const address = await printed(child);
    const entered = await fetch(address, { redirect: 'manual' });
    const home = new URL(entered.headers.get('location') ?? '', address).href;
    const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { Cookie: cookie, Origin: new URL(home).origin };
    const socket = new WebSocket(new URL('./socket', home.replace('http', 'ws')), { headers });
    const app = new RunningApp(child, socket, { home, cookie });
    await once(socket, 'open');
    return app;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Ends the processes that a fault left running: SIGTERM for a clean exit, SIGKILL after a failure. */
  static async endAll(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    for (const child of RunningApp.#running) {
      child.kill(signal);
      await once(child, 'exit');
    }
  }

  call<P extends ProcedureName>(name: P, input: InputOf<P>): Promise<OutputOf<P>> {
    const id = ++this.#lastId;
    return new Promise<OutputOf<P>>((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) return reject(new Error('Kvasir has ended'));
      this.#waiting.set(id, { resolve: (data) => resolve(data as OutputOf<P>), reject });
      this.#socket.send(JSON.stringify({ id, name, input }));
    });
  }

  async upload(libraryId: string, path: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const query = new URLSearchParams({ library: libraryId, path });
    const reply = await fetch(new URL(`./upload?${query.toString()}`, this.home), {
      method: 'PUT',
      headers: { Cookie: this.cookie, Origin: this.origin },
      body,
    });
    const { ok, error } = (await reply.json()) as Reply;
    if (!ok) throw new CallError(error?.code ?? '', error?.message ?? '');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Resolves when the process has ended for any reason. */
  async ended(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.ended();
  }

  #take({ id, ok, data, error }: Partial<Reply>): void {
    const call = this.#waiting.get(id ?? -1);
    this.#waiting.delete(id ?? -1);
    if (ok === true) call?.resolve(data);
    else call?.reject(new CallError(error?.code ?? '', error?.message ?? ''));
  }

  #lose(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error('Kvasir ended before it answered'));
    this.#waiting.clear();
  }
}

function printed(child: ChildProcess): Promise<string> {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  return new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Kvasir ${why}: ${text}`));
    timer = setTimeout(() => fail('printed no URL'), START_MS);
    const read = (part: Buffer): void => {
      text += part.toString();
      const address = ADDRESS.exec(text)?.[0];
      if (address !== undefined) resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', () => fail('did not start'));
  }).finally(() => {
    clearTimeout(timer);
    child.removeAllListeners('close');
  });
}
