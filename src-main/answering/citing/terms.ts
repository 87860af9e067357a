import { languageOf } from '../../catalogue/language.ts';
import { termsByWord, termsFor } from '../../catalogue/words.ts';
import { chineseFigures, figureForms } from '../facts/haystack.ts';
import { figuresOf } from '../facts/figures.ts';
import { namesOf } from '../facts/names.ts';

/** A word or figure of a sentence, in the forms by which a text may contain it. */
export interface Term {
  forms: readonly string[];
  /** Whether it is a figure, or part of a name. */
  isFact: boolean;
  /** Whether it is a pair of characters, in scripts without spaces between words. */
  isPair?: boolean;
}

/** Forms of figures begin with this, so that they differ from words. */
const FIGURE = '#';

const UNSPACED_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** English words that questions may be about, but that identify no statement. */
const PLAIN = new Set(['she', 'its', 'one', 'not', 'no', 'just']);

/** The words of a text that say something about its topic, by their stems, and its numbers and dates. */
export function termsOf(text: string): Term[] {
  // A single numeral is mostly part of a word, as in "一起".
  const figures = [...figuresOf(text), ...chineseFigures(text).filter(({ start, end }) => end - start > 1)];
  let words = text;
  for (const { start, end } of figures)
    words = words.slice(0, start) + ' '.repeat(end - start) + words.slice(end);
  const language = languageOf(text);
  const telling = termsByWord(words, [language]).filter(({ word }) => !PLAIN.has(word));
  const stems = new Set(telling.flatMap(({ terms }) => terms.map(({ text: stem }) => stem)));
  const names = new Set(
    namesOf(words).flatMap((name) => termsFor(name.text, [language]).map(({ text: stem }) => stem)),
  );
  return [
    ...Array.from(stems, (stem): Term => ({
      forms: [stem],
      isFact: names.has(stem),
      isPair: UNSPACED_CHARACTER.test(stem),
    })),
    ...figures.map(({ forms }): Term => ({ forms: forms.map((form) => FIGURE + form), isFact: true })),
  ];
}

/** Every form that a text contains: of its words, of its figures, and of what they imply, as a date its year. */
export function formsIn(text: string): Set<string> {
  const stems = termsFor(text, [languageOf(text)]).map(({ text: stem }) => stem);
  return new Set([...stems, ...Array.from(figureForms(text), (form) => FIGURE + form)]);
}
