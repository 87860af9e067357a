import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { CallResult } from '../../../src-shared/contract/bridge.ts';
import type { KvasirEvent } from '../../../src-shared/contract/events.ts';
import type { Api } from '../../api/api.ts';
import { Outbox } from './outbox.ts';

/** Maximum size of a window's message: the contract's longest input (50,000 keys) with a margin. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Maximum concurrent calls of one window. */
const MAX_CALLS = 256;
/** A window that leaves this many bytes unread is considered dead. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** RFC 6455, 7.4.1: the peer broke this server's rules. */
const POLICY_VIOLATION = 1008;

const CallSchema = z.object({ id: z.int().min(0), name: z.unknown(), input: z.unknown().optional() });

const BUSY: CallResult = {
  ok: false,
  error: {
    code: 'CONFLICT',
    message: `A window can wait for ${MAX_CALLS} answers at a time.`,
    advice: 'Try again in a moment.',
  },
};

/** One window or command: forwards its calls to the api, and the core's events to it. */
export class ContractSocket {
  readonly #socket: WebSocket;
  readonly #api: Api;
  readonly #outbox: Outbox;
  #calls = 0;
  #alive = true;

  constructor(socket: WebSocket, api: Api) {
    this.#socket = socket;
    this.#api = api;
    this.#outbox = new Outbox({
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      send: (text, sent) => socket.send(text, () => sent()),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => (this.#alive = true));
    // 'close' follows and does the cleanup: e.g. a message over the limit.
    socket.on('error', () => undefined);
  }

  tell(event: KvasirEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#outbox.push(event);
  }

  end(): void {
    this.#socket.terminate();
  }

  /** Closes a connection whose peer has not responded since the previous call. */
  checkAlive(): void {
    if (!this.#alive) return this.#socket.terminate();
    this.#alive = false;
    this.#socket.ping();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const call = isBinary ? undefined : parseCall(text(data));
    if (!call) return this.#socket.close(POLICY_VIOLATION, 'a message must be {"id", "name", "input"}');
    void this.#answer(call);
  }

  async #answer({ id, name, input }: z.infer<typeof CallSchema>): Promise<void> {
    const result = this.#calls < MAX_CALLS ? await this.#call(name, input) : BUSY;
    this.#reply(id, result);
  }

  async #call(name: unknown, input: unknown): Promise<CallResult> {
    this.#calls++;
    try {
      return await this.#api.call(name, input);
    } finally {
      this.#calls--;
    }
  }

  #reply(id: number, result: CallResult): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_UNREAD_BYTES) return this.#socket.terminate();
    this.#socket.send(JSON.stringify({ id, ...result }), () => this.#outbox.flush());
  }
}

function parseCall(message: string): z.infer<typeof CallSchema> | undefined {
  try {
    return CallSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

function text(data: RawData): string {
  return Array.isArray(data)
    ? Buffer.concat(data).toString('utf8')
    : Buffer.from(data as Buffer).toString('utf8');
}
