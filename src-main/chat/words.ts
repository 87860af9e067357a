/** Chinese, Japanese and Thai write no spaces between words: each character counts as one. */
const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

/** A text in indexed form. */
export function indexedWords(text: string): string {
  return text.normalize('NFC').replace(UNSPACED, ' $1 ');
}

/** A person's search text as an FTS5 query: every word must occur; the last one may be a prefix. Empty without words. */
export function wordsQuery(search: string): string {
  return searchedWords(search)
    .map((word) => `"${indexedWords(word).trim().replace(/\s+/g, ' ')}"*`)
    .join(' AND ');
}

/** The first occurrence of a searched word in `text`, with some text around it; the beginning if there is none. */
export function snippetOf(text: string, search: string, length = 160): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const lower = flat.toLowerCase();
  const places = searchedWords(search).map((word) => lower.indexOf(word.toLowerCase()));
  const first = Math.min(...places.filter((place) => place >= 0));
  const start = Number.isFinite(first) ? Math.max(0, first - Math.floor(length / 3)) : 0;
  const cut = flat.slice(start, start + length).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut}${start + length < flat.length ? '…' : ''}`;
}

function searchedWords(search: string): string[] {
  return search.normalize('NFC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
