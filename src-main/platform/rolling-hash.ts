/** Odd, so that no factor is lost modulo 2^32. */
const BASE = 0x2c1b3c6d;

/**
 * A 32-bit hash of every run of `width` tokens, [i] for tokens i … i + width − 1; empty if there are fewer tokens. Each
 * is computed from the previous one in constant time (Karp and Rabin 1987) and then mixed, so that sorting by hash is
 * like a random order.
 */
export function rollingHashes(tokens: Int32Array, width: number): Uint32Array {
  const hashes = new Uint32Array(Math.max(0, tokens.length - width + 1));
  let leaving = 1; // BASE^width, the weight of the token that leaves
  for (let i = 0; i < width; i++) leaving = Math.imul(leaving, BASE);
  let sum = 0;
  for (let i = 0; i < tokens.length; i++) {
    sum = (Math.imul(sum, BASE) + (tokens[i] ?? 0)) | 0;
    if (i >= width) sum = (sum - Math.imul(leaving, tokens[i - width] ?? 0)) | 0;
    if (i >= width - 1) hashes[i - width + 1] = mixed(sum);
  }
  return hashes;
}

/** Every bit of the result depends on every bit of `h` (the finalizer of MurmurHash3). */
function mixed(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
