import { languageOf } from '../../catalogue/language.ts';
import { tellingTerms, termsFor } from '../../catalogue/words.ts';
import type { FoundPassage } from '../passages.ts';
import { wordsOfQuestion } from '../waiting-documents.ts';

/** Whether a question has words to search for: "What is this about?" has none. */
export function hasTellingWords(question: string): boolean {
  const { words, pieces } = tellingTerms(question);
  return words.length + pieces.length > 0;
}

/** The largest share of a question's telling words that one passage contains, 0 to 1. */
export function wordShare(question: string, found: readonly FoundPassage[]): number {
  if (!hasTellingWords(question)) return 0;
  const count = termsFor(question, [languageOf(question)]).filter(({ prefix }) => prefix !== true).length;
  const wordsIn = wordsOfQuestion(question);
  const shares = found.map(
    ({ passage: { path, title, text } }) => wordsIn(`${path} ${title} ${text}`).length,
  );
  return count === 0 ? 0 : Math.max(0, ...shares) / count;
}
