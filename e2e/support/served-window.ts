/** The window of the real program, as a page in a browser reaches it. */
import { WebSocket } from 'ws';
import { expect } from 'vitest';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import { SocketCalls } from '../../src-shared/contract/socket-calls.ts';
import { waitForOutput, startCli, type RunningCli } from '../cli-support.ts';

export const ADDRESS = /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=[\w-]{43}$/m;

export interface WindowServer extends RunningCli {
  port: number;
  address: string;
}

export async function serve(data: string, ...flags: string[]): Promise<WindowServer> {
  const running = startCli(['serve', '--no-open', '--data', data, ...flags]);
  const [address, port] = await waitForOutput(running, ADDRESS);
  return { ...running, address, port: Number(port) };
}

interface Session {
  cookie: string;
  /** The page's path. */
  base: string;
}

export async function enter({ address }: WindowServer): Promise<Session> {
  const entered = await fetch(address, { redirect: 'manual' });
  expect(entered.status).toBe(303);
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie, base: entered.headers.get('location') ?? '' };
}

/** Calls of one window. */
export class WindowCalls {
  readonly #socket: WebSocket;
  readonly #calls = new SocketCalls();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#calls.receive(data.toString()));
  }

  static async open({ port }: WindowServer, { cookie, base }: Session): Promise<WindowCalls> {
    const headers = { Origin: `http://127.0.0.1:${port}`, Cookie: cookie };
    const socket = new WebSocket(`ws://127.0.0.1:${port}${base}socket`, { headers });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new WindowCalls(socket);
  }

  async call<P extends ProcedureName>(name: P, input: InputOf<P>): Promise<OutputOf<P>> {
    const reply = await this.#calls.call(name, input, (text) => this.#socket.send(text));
    if (!reply.ok) throw new Error(`${name}: ${JSON.stringify(reply.error)}`);
    return reply.data as OutputOf<P>;
  }

  close(): void {
    this.#socket.terminate();
  }
}
