/** How many leading tokens agree. */
export function agreement(a: Int32Array, b: Int32Array): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) if (a[i] !== b[i]) return i;
  return n;
}

/** From the least to the largest. Vocabularies are too long to be the arguments of one call. */
export function rangeOf(values: Float32Array): number {
  let [least, largest] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    largest = Math.max(largest, value);
  }
  return largest - least;
}

/** The same pseudo-random token ids for the same arguments, none of them among the first three (specials). */
export function randomTokens(count: number, vocab: number, seed = 1): Int32Array {
  let state = seed >>> 0;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 3 + Math.floor((state / 2 ** 32) * (vocab - 3));
  });
}
