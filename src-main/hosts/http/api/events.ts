/** Sends one event of a stream, with its name if it has one. */
export type EventSender = (data: unknown, name?: string) => void;

interface EventStreamOptions {
  /** Produces the events; resolves when there are no more. */
  work: (send: EventSender) => Promise<void>;
  /** Reports a failure after the stream began. */
  failed: (error: unknown, send: EventSender) => void;
  /** Final event of a stream. */
  last?: string;
  /** The reader has disconnected. */
  onLeft: () => void;
  /** Interval in milliseconds without an event after which a keep-alive comment is sent. */
  keepAliveMs?: number | undefined;
}

/** Clients and proxies time out when nothing arrives: Node's fetch after five minutes, proxies after one. */
const KEEP_ALIVE_MS = 15_000;

/**
 * Server-sent events. A failure before anything was sent is thrown, so that it gets its own status; a later one is
 * reported as an event. Keep-alive comments, which readers ignore, also cover the wait for the first event.
 */
export async function eventStream({
  work,
  failed,
  last,
  onLeft,
  keepAliveMs = KEEP_ALIVE_MS,
}: EventStreamOptions): Promise<Response> {
  const encoder = new TextEncoder();
  const begun = Promise.withResolvers<undefined>();
  let [isBegun, isOpen] = [false, true];
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    isOpen = false;
    clearInterval(timer);
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const write = (text: string): void => {
        if (!isOpen) return;
        controller.enqueue(encoder.encode(text));
        timer?.refresh();
        isBegun = true;
        begun.resolve(undefined);
      };
      timer = setInterval(() => write(': keepalive\n\n'), keepAliveMs);
      const send: EventSender = (data, name) =>
        write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
      const close = (): void => {
        if (isOpen) controller.close();
        stop();
      };
      const end = (): void => {
        if (last !== undefined) write(`data: ${last}\n\n`);
        close();
      };
      void work(send).then(end, (error: unknown) => {
        if (isBegun) failed(error, send);
        else begun.reject(error);
        close();
      });
    },
    cancel: () => {
      stop();
      onLeft();
    },
  });
  await begun.promise;
  return new Response(body, {
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' },
  });
}
