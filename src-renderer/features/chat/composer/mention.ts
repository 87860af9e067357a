/** An "@" with what stands between it and the caret: a name that is being typed. */
export interface Mention {
  /** Where the "@" stands in the text. */
  start: number;
  query: string;
}

/** Longer than this nobody types to find a name. */
const MOST_CHARACTERS = 40;

/** The name that is being typed before the caret; undefined where there is none, as in an e-mail address. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret);
  const start = before.lastIndexOf('@');
  if (start < 0 || (start > 0 && /[\p{L}\p{N}._-]/u.test(before[start - 1] ?? ''))) return undefined;
  const query = before.slice(start + 1);
  if (query.length > MOST_CHARACTERS || /^\s|\n/.test(query)) return undefined;
  return { start, query };
}

/** The text without the name, and without the space that would then stand double. */
export function withoutMention(text: string, { start, query }: Mention): string {
  const after = text.slice(start + 1 + query.length);
  return text.slice(0, start) + (start === 0 || text[start - 1] === ' ' ? after.trimStart() : after);
}
