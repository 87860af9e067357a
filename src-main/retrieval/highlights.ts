import type { Range } from '../../src-shared/contract/common.ts';
import { languageOf, stemOf, WORD, type Language } from '../catalogue/language.ts';
import { termsOf, withoutMarks } from '../catalogue/words.ts';

/**
 * For each text the ranges (UTF-16) that match words of a question, or one of these stems, as the full-text index does: by stems; ascending,
 * without overlap.
 */
export function highlights(
  question: string,
  texts: readonly string[],
  stems: readonly string[] = [],
): Range[][] {
  const { words, pieces } = termsOf(question);
  return texts.map((text) => merged([...rangesOfPieces(text, pieces), ...rangesOfWords(text, words, stems)]));
}

function rangesOfWords(text: string, words: readonly string[], stems: readonly string[]): Range[] {
  if (words.length + stems.length === 0) return [];
  const language = languageOf(text);
  const wanted = new Set([...words.map((word) => keyOf(word, language)), ...stems]);
  return [...text.matchAll(WORD)]
    .filter(([word]) => wanted.has(keyOf(word.normalize('NFKC').toLowerCase(), language)))
    .map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
}

function keyOf(word: string, language: Language): string {
  return withoutMarks(stemOf(word, language));
}

/** Positions of pairs of characters of unspaced text, or of a single character in the question. */
function rangesOfPieces(text: string, pieces: readonly string[]): Range[] {
  const lower = text.toLowerCase();
  const haystack = lower.length === text.length ? lower : text; // some characters get longer in lower case
  return pieces.flatMap((piece) => {
    const characters = Array.from(piece);
    const needles =
      characters.length === 1
        ? [piece]
        : characters.slice(1).map((second, i) => `${characters[i] ?? ''}${second}`);
    return needles.flatMap((needle) => occurrences(haystack, needle));
  });
}

function occurrences(text: string, needle: string): Range[] {
  const ranges: Range[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
    ranges.push({ start: at, end: at + needle.length });
  return ranges;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = result.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else result.push({ ...range });
  }
  return result;
}
