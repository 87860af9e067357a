/** Length of the common prefix. */
export function agreement(a: Int32Array, b: Int32Array): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) if (a[i] !== b[i]) return i;
  return n;
}

/** Largest minus smallest value. Vocabularies are too large to spread into one Math.max call. */
export function rangeOf(values: Float32Array): number {
  let [least, largest] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    largest = Math.max(largest, value);
  }
  return largest - least;
}

/** Pseudo-random token ids, deterministic in their arguments, none of them among the first three (special tokens). */
export function randomTokens(count: number, vocab: number, seed = 1): Int32Array {
  let state = seed >>> 0;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 3 + Math.floor((state / 2 ** 32) * (vocab - 3));
  });
}
