/**
 * Runs work that reports through a callback, as a generator: yields each event in order, and returns the work's result.
 * A reader that stops early aborts `stop` and waits for the work to end.
 */
export async function* eventsOf<E, R>(
  work: (tell: (event: E) => void, stop: AbortSignal) => Promise<R>,
): AsyncGenerator<E, R, void> {
  const told: E[] = [];
  const stop = new AbortController();
  const state = { more: Promise.withResolvers(), ended: false };
  const tell = (event: E): void => {
    told.push(event);
    state.more.resolve(undefined);
  };
  const result = work(tell, stop.signal).finally(() => {
    state.ended = true;
    state.more.resolve(undefined);
  });
  result.catch(() => undefined); // thrown below
  try {
    for (;;) {
      yield* told.splice(0);
      if (told.length > 0) continue;
      if (state.ended) return await result;
      await state.more.promise;
      state.more = Promise.withResolvers();
    }
  } finally {
    stop.abort();
    await result.catch(() => undefined);
  }
}
