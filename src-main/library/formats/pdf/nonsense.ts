/** Fewer letters say nothing about a language. */
const MIN_LETTERS = 100;
/** Of a language's letters in Latin script, a third to a half are vowels; of those of codes and shifted alphabets, far fewer. */
const MIN_VOWELS = 0.25;
/** Vietnamese, which has most of them, has accents on a third of its letters; text in a wrong encoding on nearly all. */
const MAX_ACCENTED = 0.6;
/** Tables of numbers have up to a third of signs, formulas up to two fifths. */
const MIN_READABLE = 0.5;

/**
 * Whether a text has no words of any language: the font of a PDF gave letters the wrong codes, or text recognition failed. Tables of
 * numbers are none; of scripts other than Latin nothing is claimed.
 */
export function isNonsense(text: string): boolean {
  const signs = count(text, /\S/gu);
  if (signs >= MIN_LETTERS && count(text, /[\p{L}\p{M}\p{N}]/gu) < signs * MIN_READABLE) return true;
  const latin = text.match(/\p{Script=Latin}+/gu)?.join('') ?? '';
  if (latin.length < MIN_LETTERS || latin.length < count(text, /\p{L}/gu) / 2) return false;
  const vowels = count(latin.normalize('NFD'), /[aeiouyæœøı]/gi);
  return vowels < latin.length * MIN_VOWELS || count(latin, /[^a-z]/gi) > latin.length * MAX_ACCENTED;
}

function count(text: string, of: RegExp): number {
  return text.match(of)?.length ?? 0;
}
