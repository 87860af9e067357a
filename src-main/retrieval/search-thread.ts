import { Worker } from 'node:worker_threads';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted, unlessAborted } from '../platform/abort.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import type { Searcher } from './searcher.ts';

type Methods = { [M in keyof Searcher]: Searcher[M] };

/** Runs a Searcher's methods. */
export interface SearchRunner {
  /** ABORTED, and the errors of reading the catalogue. */
  run<M extends keyof Methods>(
    method: M,
    args: Parameters<Methods[M]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<Methods[M]>>;
}

export interface SearchRequest {
  method: keyof Methods;
  args: readonly unknown[];
}

export type SearchReply = { result: unknown } | { failure: Failure };

/**
 * Runs a Searcher on a thread with its own connection to the catalogue, so that the main thread stays free. Requests run one after another;
 * one that is aborted while it waits never starts. The thread starts with the first request, and again after it failed.
 */
export class SearchThread implements SearchRunner {
  readonly #path: string;
  readonly #queue = new SerialQueue();
  readonly #closing = new AbortController();
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Starts the thread ahead of its first request. */
  start(): void {
    this.#started().unref();
  }

  run<M extends keyof Methods>(
    method: M,
    args: Parameters<Methods[M]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<Methods[M]>> {
    const { signal: closing } = this.#closing;
    const either = signal ? AbortSignal.any([signal, closing]) : closing;
    const work = this.#queue.run(() => {
      throwIfAborted(either);
      return this.#ask({ method, args });
    });
    return unlessAborted(work, either) as Promise<ReturnType<Methods[M]>>;
  }

  /** Drops waiting requests, and waits for the current one and the end of the thread. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.run(async () => {
      const worker = this.#worker;
      if (!worker) return;
      worker.ref();
      const { promise: ended, resolve } = Promise.withResolvers<unknown>();
      worker.once('exit', resolve);
      worker.postMessage('close');
      await ended;
    });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { path: this.#path } });
    this.#worker = worker;
    worker.on('error', () => undefined); // whoever waits is told; without a listener it would end the process
    worker.once('exit', () => (this.#worker = undefined));
    return worker;
  }

  async #ask(request: SearchRequest): Promise<unknown> {
    const worker = this.#started();
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    const onExit = (code: number): void => reject(new Error(`the search thread ended with code ${code}`));
    worker.ref(); // keeps the process running until the reply
    worker.once('message', resolve).once('error', reject).once('exit', onExit);
    try {
      worker.postMessage(request);
      const reply = await promise;
      if ('result' in reply) return reply.result;
      const { code, message, advice } = reply.failure;
      throw new KvasirError(code, message, advice);
    } finally {
      worker.off('message', resolve).off('error', reject).off('exit', onExit).unref();
    }
  }
}
