import type { SharedValue } from './shared-tier.ts';

/** The first range is short, so that a chunk's header is there soon; it holds that of chunks of 16,000 tokens. */
const FIRST = 64 * 2 ** 10;
/** Of the others: long enough that asking for one costs little beside what it brings. */
const EACH = 2 ** 20;
/** While one arrives the next is asked for. */
const AT_ONCE = 2;

/** A value from its first byte to its last, in ranges that are asked for ahead. Rejects with SHARED_TIER_FAILED; nothing is then under way. */
export async function* ranges(value: SharedValue): AsyncGenerator<Uint8Array, void> {
  const under: Promise<Uint8Array>[] = [];
  let from = 0;
  const ask = (): void => {
    const bytes = Math.min(from === 0 ? FIRST : EACH, value.bytes - from);
    if (bytes <= 0) return;
    const range = value.read(from, bytes);
    range.catch(() => undefined); // told when its turn comes
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
