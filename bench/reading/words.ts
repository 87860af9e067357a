/** Scripts without spaces between words: each character counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
/** A hyphen within a word, also at a line end: "har-\nbour" and "well-known" become "harbour" and "wellknown", however lines are broken. */
const HYPHEN = /(?<=\p{L})[-\u00ad\u2010]\s*(?=\p{L})/gu;

/** How often each word occurs, after NFKC, in lower case, without hyphens; punctuation and symbols are no words. */
function wordsOf(text: string): Map<string, number> {
  const plain = text.normalize('NFKC').toLowerCase().replace(HYPHEN, '').replace(UNSPACED, ' $& ');
  const counts = new Map<string, number>();
  for (const [word] of plain.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export interface WordScores {
  /** Share of the reference's words that were read, each as often as it occurs. */
  recall: number;
  /** Share of the words read that the reference has. */
  precision: number;
  /** Words of the reference that were not read: first those that were never read, then those read too seldom; longest first. */
  missing: string[];
  /** Words read that the reference lacks, in the same order. */
  extra: string[];
}

/** undefined if the reference has no words. */
export function compareWords(text: string, reference: string): WordScores | undefined {
  const read = wordsOf(text);
  const right = wordsOf(reference);
  const total = (words: ReadonlyMap<string, number>): number =>
    [...words.values()].reduce((sum, n) => sum + n, 0);
  const shared = [...read].reduce((sum, [word, n]) => sum + Math.min(n, right.get(word) ?? 0), 0);
  if (right.size === 0) return undefined;
  return {
    recall: shared / total(right),
    precision: read.size === 0 ? 1 : shared / total(read),
    missing: surplus(right, read),
    extra: surplus(read, right),
  };
}

function surplus(words: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): string[] {
  return [...words]
    .filter(([word, n]) => n > (others.get(word) ?? 0))
    .map(([word]) => word)
    .sort((a, b) => Number(others.has(a)) - Number(others.has(b)) || b.length - a.length);
}
