import { languageOf } from '../catalogue/language.ts';
import { indexedText, termsFor } from '../catalogue/words.ts';
import type { FoundPassage, UnreadyDocuments } from './passages.ts';

/** Returns those of a question's significant words (as stems) that a text or a path contains. */
export function wordsOfQuestion(question: string): (text: string) => string[] {
  const language = languageOf(question);
  const terms = termsFor(question, [language]).filter(({ prefix }) => prefix !== true);
  return (text) => {
    if (terms.length === 0) return [];
    const words = new Set(indexedText(text, language).match(/[\p{L}\p{N}\p{M}]+/gu));
    return terms.map(({ text: term }) => term).filter((term) => words.has(term));
  };
}

/**
 * The document that a question is most likely about, if it has not been read yet: its name contains a word of the question that no
 * retrieved passage contains.
 */
export function obviousMatch(
  { matching = [] }: UnreadyDocuments,
  question: string,
  found: readonly Pick<FoundPassage, 'passage'>[],
): string | undefined {
  const wordsIn = wordsOfQuestion(question);
  const known = new Set(
    found.flatMap(({ passage: { path, title, text } }) => wordsIn(`${path} ${title} ${text}`)),
  );
  return matching.find(({ words }) => words.some((word) => !known.has(word)))?.path;
}
