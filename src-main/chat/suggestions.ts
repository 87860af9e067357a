import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { questionAbout } from '../answering/topic-questions.ts';

const FileSchema = z.object({ questions: z.array(z.string().min(1)) });

/** Questions to start with, from a file shipped with the app; none when it is missing. */
export function readSuggestions(path: string): string[] {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).questions;
  } catch {
    return [];
  }
}

const SUGGESTED = 3;
/** Longer titles are sentences. */
const LONGEST_TITLE = 80;

/** Questions about documents, by their titles. */
export function suggestionsAbout(titles: readonly string[]): string[] {
  const telling = titles.filter((title) => title !== '' && title.length <= LONGEST_TITLE);
  return [...new Set(telling)]
    .slice(0, SUGGESTED)
    .map((title) => questionAbout(title, { text: title }).question);
}
