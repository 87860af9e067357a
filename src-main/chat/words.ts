import type { Range } from '../../src-shared/contract/common.ts';

/** Chinese, Japanese and Thai write no spaces between words: each character counts as one. */
const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

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
  const flat = text.normalize('NFC').replace(/\s+/g, ' ').trim();
  const start = Math.max(0, (matchesIn(flat, search)[0]?.start ?? 0) - Math.floor(length / 3));
  const cut = flat.slice(start, start + length).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut}${start + length < flat.length ? '…' : ''}`;
}

/** The ranges of `text` that the index would match: beginnings of words, without regard to case and accents. */
export function matchesIn(text: string, search: string): Range[] {
  const folded = fold(text);
  const ranges = searchedWords(search).flatMap((word) => {
    const begin = word.search(UNSPACED) === 0 ? '' : String.raw`(?<![\p{L}\p{N}\p{M}])`;
    return [...folded.matchAll(new RegExp(begin + fold(word), 'gu'))].map(({ index, 0: { length } }) => ({
      start: index,
      end: index + length,
    }));
  });
  return ranges.sort((a, b) => a.start - b.start);
}

/** Lower case without accents, of the same length. */
function fold(text: string): string {
  const plain = (character: string): string => {
    const bare = character.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    return bare.length === character.length ? bare : character;
  };
  return text.replace(/\P{ASCII}/gu, plain).toLowerCase();
}

function searchedWords(search: string): string[] {
  return search.normalize('NFC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
