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

/** How near two words are. */
interface Comparison {
  /** More than `most` count as most + 1. */
  edits: number;
  /** The prefix of `to` that decides it: no word that begins with a deciding prefix shorter than `to` is near. */
  decidedBy: string;
}

/**
 * Letters to insert, delete, replace or swap with their neighbour that lead from one word to the other (optimal string alignment). Row i
 * of the matrix belongs to the first i letters of `to`; its least value never falls from one row to the next.
 */
export function compareWords(from: string, to: string, most: number): Comparison {
  let before: number[] = [];
  let last = Array.from({ length: from.length + 1 }, (_, j) => j);
  for (let i = 1; i <= to.length; i++) {
    const row = [i];
    for (let j = 1; j <= from.length; j++) {
      const replaced = (last[j - 1] ?? 0) + Number(to[i - 1] !== from[j - 1]);
      let edits = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && to[i - 1] === from[j - 2] && to[i - 2] === from[j - 1])
        edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    if (Math.min(...row) > most) return { edits: most + 1, decidedBy: to.slice(0, i) };
    [before, last] = [last, row];
  }
  return { edits: Math.min(last[from.length] ?? 0, most + 1), decidedBy: to };
}
