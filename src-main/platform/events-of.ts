/**
 * Runs work that reports through a callback, as a generator: yields each event in order, and returns the work's result.
 * A reader that stops early aborts `stop` and waits for the work to end.
 */
export async function* eventsOf<E, R>(
  work: (tell: (event: E) => void, stop: AbortSignal) => Promise<R>,
): AsyncGenerator<E, R, void> {
  const told: E[] = [];
  const stop = new AbortController();
  let more = Promise.withResolvers<void>();
  let ended = false;
  const tell = (event: E): void => {
    told.push(event);
    more.resolve();
  };
  const result = work(tell, stop.signal).finally(() => {
    ended = true;
    more.resolve();
  });
  result.catch(() => undefined); // thrown below
  try {
    for (;;) {
      yield* told.splice(0);
      if (told.length > 0) continue;
      if (ended) return await result;
      await more.promise;
      more = Promise.withResolvers();
    }
  } finally {
    stop.abort();
    await result.catch(() => undefined);
  }
}
