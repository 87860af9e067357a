/** A mention being typed: "@" and the text between it and the caret. */
export interface Mention {
  /** Index of the "@" in the text. */
  start: number;
  query: string;
}

/** Longer text is not a name search. */
const MOST_CHARACTERS = 40;

/** The mention being typed before the caret; undefined if there is none, as in an e-mail address. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret);
  const start = before.lastIndexOf('@');
  if (start < 0 || (start > 0 && /[\p{L}\p{N}._-]/u.test(before[start - 1] ?? ''))) return undefined;
  const query = before.slice(start + 1);
  if (query.length > MOST_CHARACTERS || /^\s|\n/.test(query)) return undefined;
  return { start, query };
}

/** Removes the mention, and the space that would be doubled. */
export function withoutMention(text: string, { start, query }: Mention): string {
  const after = text.slice(start + 1 + query.length);
  return text.slice(0, start) + (start === 0 || text[start - 1] === ' ' ? after.trimStart() : after);
}
