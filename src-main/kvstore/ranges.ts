import type { SharedValue } from './shared-tier.ts';

/** The first range is short, so that a chunk's header arrives soon; it fits the header of a chunk of 16,000 tokens. */
const FIRST = 64 * 2 ** 10;
/** Size of the others: large enough to make the request overhead small. */
const EACH = 2 ** 20;
/** Ranges in flight: the next is requested while one arrives. */
const AT_ONCE = 2;

/**
 * Reads a value from first to last byte in ranges, requesting ahead. Rejects with SHARED_TIER_FAILED; no requests are
 * then in flight.
 */
export async function* ranges(value: SharedValue): AsyncGenerator<Uint8Array, void> {
  const under: Promise<Uint8Array>[] = [];
  let from = 0;
  const ask = (): void => {
    const bytes = Math.min(from === 0 ? FIRST : EACH, value.bytes - from);
    if (bytes <= 0) return;
    const range = value.read(from, bytes);
    range.catch(() => undefined); // its error is reported when its turn comes
    under.push(range);
    from += bytes;
  };
  try {
    while (under.length < AT_ONCE && from < value.bytes) ask();
    for (let next = under.shift(); next; next = under.shift()) {
      const bytes = await next;
      ask();
      yield bytes;
    }
  } finally {
    await Promise.allSettled(under);
  }
}
