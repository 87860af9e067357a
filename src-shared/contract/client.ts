import { KvasirError } from '../errors.ts';
import type { Bridge, CallResult } from './bridge.ts';
import type { InputOf, OutputOf, ProcedureName } from './contract.ts';
import type { EventPayload, EventTopic, KvasirEvent } from './events.ts';

/** The typed side of the contract. Failures are thrown as KvasirError with the core's code and advice. */
export class ContractClient {
  readonly #call: Bridge['call'];
  readonly #listeners = new Map<EventTopic, Set<(payload: never) => void>>();

  constructor(bridge: Pick<Bridge, 'call' | 'onEvent'>) {
    this.#call = (name, input) => bridge.call(name, input);
    bridge.onEvent((event) => this.#deliver(event));
  }

  async call<P extends ProcedureName>(name: P, ...[input]: CallArguments<P>): Promise<OutputOf<P>> {
    return unwrap(await this.#call(name, input ?? {})) as OutputOf<P>;
  }

  on<T extends EventTopic>(topic: T, listener: (payload: EventPayload<T>) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #deliver({ topic, payload }: KvasirEvent): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(payload as never);
  }
}

/** Procedures whose input may be empty can be called without arguments. */
export type CallArguments<P extends ProcedureName> =
  Record<string, never> extends InputOf<P>
    ? [input?: InputOf<P>]
    : undefined extends InputOf<P>
      ? [input?: InputOf<P>]
      : [input: InputOf<P>];

export function unwrap(result: CallResult): unknown {
  if (result.ok) return result.data;
  const { code, message, advice } = result.error;
  throw new KvasirError(code, message, advice);
}
