import type { CallResult } from './bridge.ts';
import type { KvasirEvent } from './events.ts';

/** A client's calls over a socket. It sends {id, name, input}, and gets each result with its id, and events. */
export class SocketCalls {
  readonly #waiting = new Map<number, (result: CallResult) => void>();
  readonly #listeners = new Set<(event: KvasirEvent) => void>();
  #lastId = 0;

  call(name: string, input: unknown, send: (text: string, id: number) => void): Promise<CallResult> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      send(JSON.stringify({ id, name, input }), id);
    });
  }

  onEvent(listener: (event: KvasirEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  receive(text: string): void {
    const message = JSON.parse(text) as ({ id: number } & CallResult) | KvasirEvent;
    if ('topic' in message) return this.#listeners.forEach((listener) => listener(message));
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
  }

  /** Answers every call with a failure, except for those that have yet to be sent. */
  fail(result: CallResult, unsent: Pick<ReadonlySet<number>, 'has'> = new Set()): void {
    for (const [id, resolve] of this.#waiting) {
      if (unsent.has(id)) continue;
      this.#waiting.delete(id);
      resolve(result);
    }
  }
}
