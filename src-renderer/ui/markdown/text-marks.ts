/** Splits a text at some words, which are at the odd indices. In scripts with spaces between words, only whole words match. */
export function textMarks(text: string, words: readonly string[]): string[] {
  if (words.length === 0) return [text];
  const longestFirst = words.toSorted((a, b) => b.length - a.length).map(asPattern);
  return text.split(new RegExp(`(${longestFirst.join('|')})`, 'u'));
}

function asPattern(word: string): string {
  const before = HAS_BLANKS.test(word.slice(0, 1)) ? String.raw`(?<![\p{L}\p{N}])` : '';
  const behind = HAS_BLANKS.test(word.slice(-1)) ? String.raw`(?![\p{L}\p{N}])` : '';
  return before + word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) + behind;
}

const HAS_BLANKS = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u;
