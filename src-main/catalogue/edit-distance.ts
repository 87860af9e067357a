/** Shorter words have too many neighbours: "cart" is no misspelt "card". */
const FEWEST_LETTERS = 5;
/** Words of at least this length may have two letters wrong. */
const LONG = 8;

/** Whether a word could be misspelt: names of versions, numbers and short words are meant as they are. */
export function mayBeMisspelt(word: string): boolean {
  return (
    word.length >= FEWEST_LETTERS &&
    /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}]+$/u.test(word)
  );
}

export function editsAllowed(word: string): number {
  return word.length >= LONG ? 2 : 1;
}

/**
 * Letters to insert, delete, replace or swap with their neighbour that lead from one word to the other (optimal string alignment); more
 * than `most` count as most + 1.
 */
export function editDistance(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] ?? 0) + Number(from[i - 1] !== to[j - 1]);
      let edits = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    if (Math.min(...row) > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[to.length] ?? 0, most + 1);
}
