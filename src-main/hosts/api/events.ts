/** Sends one event of a stream, by its name where it has one. */
export type Send = (data: unknown, name?: string) => void;

interface EventStreamOptions {
  /** Makes the events; resolves when there are no more. */
  work: (send: Send) => Promise<void>;
  /** Tells of a failure after the stream began. */
  failed: (error: unknown, send: Send) => void;
  /** What ends a stream. */
  last?: string;
  /** The reader has gone. */
  onLeft: () => void;
}

/**
 * Server-sent events. What fails before the first event is thrown, so that it gets a status of its own; what fails later is told as an
 * event.
 */
export async function eventStream({ work, failed, last, onLeft }: EventStreamOptions): Promise<Response> {
  const encoder = new TextEncoder();
  const begun = Promise.withResolvers<undefined>();
  let open = true;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const write = (text: string): void => {
        if (open) controller.enqueue(encoder.encode(text));
      };
      const send: Send = (data, name) => {
        write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
        begun.resolve(undefined);
      };
      const end = (): void => {
        if (last !== undefined) write(`data: ${last}\n\n`);
        if (open) controller.close();
        open = false;
      };
      void work(send).then(end, (error: unknown) => {
        begun.reject(error); // nothing, once it has begun
        failed(error, send);
        if (open) controller.close();
        open = false;
      });
    },
    cancel: () => {
      open = false;
      onLeft();
    },
  });
  await begun.promise;
  return new Response(body, {
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' },
  });
}
