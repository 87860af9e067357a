import type { Bridge, CallResult, Connection, UploadOptions } from '../../src-shared/contract/bridge.ts';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { EventPayload, EventTopic, KvasirEvent } from '../../src-shared/contract/events.ts';
import { KvasirError } from '../../src-shared/errors.ts';

export type FileBridge = Bridge<File>;

/** The window's typed side of the contract. Failures are thrown as KvasirError with the core's code and advice. */
export class Client {
  readonly #bridge: FileBridge;
  readonly #listeners = new Map<EventTopic, Set<(payload: never) => void>>();

  constructor(bridge: FileBridge) {
    this.#bridge = bridge;
    bridge.onEvent((event) => this.#deliver(event));
  }

  async call<P extends ProcedureName>(name: P, ...[input]: CallArguments<P>): Promise<OutputOf<P>> {
    return unwrap(await this.#bridge.call(name, input ?? {})) as OutputOf<P>;
  }

  on<T extends EventTopic>(topic: T, listener: (payload: EventPayload<T>) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  onConnection(listener: (connection: Connection) => void): () => void {
    return this.#bridge.onConnection(listener);
  }

  pathOf(file: File): string | undefined {
    return this.#bridge.pathOf(file);
  }

  /** Whether files from the browser must be uploaded to reach the core. */
  get uploads(): boolean {
    return this.#bridge.upload !== undefined;
  }

  /** Resolves with the file's path on the core's machine and the document id. */
  async upload(file: File, options: UploadOptions): Promise<{ path: string; documentId?: string }> {
    if (!this.#bridge.upload) throw new TypeError('upload: this host takes paths');
    return unwrap(await this.#bridge.upload(file, options)) as { path: string; documentId?: string };
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

function unwrap(result: CallResult): unknown {
  if (result.ok) return result.data;
  const { code, message, advice } = result.error;
  throw new KvasirError(code, message, advice);
}
