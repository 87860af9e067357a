import type { Context } from 'hono';
import { failureOf } from '../errors.ts';
import type { ApiCore } from './core.ts';

/** Sends one event of a stream, with its name if it has one. */
export type EventSender = (data: unknown, name?: string) => void;

type Writer = (text: string) => void;

interface StreamOptions {
  signal: AbortSignal;
  /** Interval in milliseconds without output after which something is sent that readers ignore. */
  keepAliveMs?: number | undefined;
}

interface EventStreamOptions extends StreamOptions {
  /** Produces the events; resolves when there are no more. `signal`: also aborted when the reader has disconnected. */
  work: (send: EventSender, signal: AbortSignal) => Promise<void>;
  /** Reports a failure after the stream began. */
  failed: (error: unknown, send: EventSender) => void;
  /** Final event of a stream. */
  last?: string;
}

/** Server-sent events. */
export function eventStream({ work, failed, last, ...options }: EventStreamOptions): Promise<Response> {
  const senderOf =
    (write: Writer): EventSender =>
    (data, name) =>
      write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
  return textStream({
    ...options,
    type: 'text/event-stream; charset=utf-8',
    keepAlive: () => ': keepalive\n\n',
    work: async (write, signal) => {
      await work(senderOf(write), signal);
      if (last !== undefined) write(`data: ${last}\n\n`);
    },
    failed: (error, write) => failed(error, senderOf(write)),
  });
}

interface LineStreamOptions extends StreamOptions {
  /** As of events. */
  work: (send: (value: object) => void, signal: AbortSignal) => Promise<void>;
  /** The last value of a stream that failed. */
  failed: (error: unknown) => object;
  /** A value that adds nothing: an empty line would be invalid. */
  keepAlive: () => object;
}

/** JSON values, each on a line (NDJSON). */
export function lineStream({ work, failed, keepAlive, ...options }: LineStreamOptions): Promise<Response> {
  const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;
  return textStream({
    ...options,
    type: 'application/x-ndjson',
    keepAlive: () => lineOf(keepAlive()),
    work: (write, signal) => work((value) => write(lineOf(value)), signal),
    failed: (error, write) => write(lineOf(failed(error))),
  });
}

interface TextStreamOptions extends StreamOptions {
  type: string;
  keepAlive: () => string;
  work: (write: Writer, signal: AbortSignal) => Promise<void>;
  failed: (error: unknown, write: Writer) => void;
}

/** Clients and proxies time out when nothing arrives: Node's fetch after five minutes, proxies after one. */
const KEEP_ALIVE_MS = 15_000;

/**
 * A failure before anything was sent is thrown, so that it gets its own status; a later one is reported in the stream.
 * Keep-alive texts also cover the wait for the first output.
 */
async function textStream({
  type,
  keepAlive,
  work,
  failed,
  signal,
  keepAliveMs = KEEP_ALIVE_MS,
}: TextStreamOptions): Promise<Response> {
  const encoder = new TextEncoder();
  const left = new AbortController();
  const begun = Promise.withResolvers<undefined>();
  let [isBegun, isOpen] = [false, true];
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    isOpen = false;
    clearInterval(timer);
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const write: Writer = (text) => {
        if (!isOpen) return;
        controller.enqueue(encoder.encode(text));
        timer?.refresh();
        isBegun = true;
        begun.resolve(undefined);
      };
      timer = setInterval(() => write(keepAlive()), keepAliveMs);
      const close = (): void => {
        if (isOpen) controller.close();
        stop();
      };
      void work(write, AbortSignal.any([signal, left.signal])).then(close, (error: unknown) => {
        if (isBegun) failed(error, write);
        else begun.reject(error);
        close();
      });
    },
    cancel: () => {
      stop();
      left.abort();
    },
  });
  await begun.promise;
  return new Response(body, { headers: { 'Content-Type': type, 'Cache-Control': 'no-store' } });
}

/** Runs `work` on the first call only. */
export function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

/** A stream of OpenAI's events. */
export function streamed(
  c: Context,
  { log, keepAliveMs }: Pick<ApiCore, 'log' | 'keepAliveMs'>,
  work: (send: EventSender, signal: AbortSignal) => Promise<void>,
): Promise<Response> {
  return eventStream({
    work,
    failed: (error, send) => send(failureOf(error, log, c.get('requestId')).body),
    last: '[DONE]',
    signal: c.req.raw.signal,
    keepAliveMs,
  });
}
