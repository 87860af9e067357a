/** The pairs in a table of words: “key value key value …”. */
export function pairs(table: string): [key: string, value: string][] {
  const words = table.split(' ');
  return words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? '']] : []));
}

/** The same value for each of these words. */
export function each<T>(words: string, value: T): [key: string, value: T][] {
  return words.split(' ').map((word) => [word, value]);
}
