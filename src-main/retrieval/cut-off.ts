import type { SearchIndex } from './search-index.ts';
import type { Match, Ranking } from './types.ts';

/**
 * Where a ranking stops being worth the prompt's space. BM25 scores every passage that contains any word of the question; a model that gets
 * six passages of which one has the answer often answers from another.
 */

/** Share of the best match's word score; below it a passage has little to do with the question. */
const SHARE_OF_BEST = 0.35;
/** The same for the excess over unrelated passages' similarity, a baseline that differs between embedding models. */
const SHARE_OF_NEAREST = 0.7;

/** Share of the most likely passage's score by the reranker; below it a passage does not answer the question. */
const SHARE_OF_LIKELIEST = 0.1;

/** The worthwhile matches, best first; always includes the best one. A reranker, which reads the passages, overrules words and vectors. */
export function worthwhile(ranking: Ranking, question: string, index: SearchIndex): Match[] {
  const matches = contentsLast(ranking.matches, index);
  const ids = matches.map(({ chunkId }) => chunkId);
  const rare = index.rareWords(question, ids);
  const hasRare = matches.some(({ chunkId }) => rare.some((held) => held.has(chunkId)));
  const best = Math.max(...matches.map(({ fullText }) => fullText?.score ?? 0));
  const nearest = Math.max(...matches.map(({ vector }) => vector?.score ?? 0));
  const floor = ranking.unrelated + SHARE_OF_NEAREST * (nearest - ranking.unrelated);
  const byWords = ({ chunkId, fullText }: Match): boolean =>
    fullText !== null &&
    fullText.score >= best * SHARE_OF_BEST &&
    (!hasRare || rare.some((held) => held.has(chunkId)));
  const byMeaning = ({ vector }: Match): boolean => vector !== null && vector.score >= floor;
  const likeliest = Math.max(...matches.map(({ reranked }) => reranked?.score ?? 0));
  const isWorth = (match: Match): boolean =>
    likeliest > 0
      ? (match.reranked?.score ?? 0) >= likeliest * SHARE_OF_LIKELIEST
      : byWords(match) || byMeaning(match);
  const worth = new Set(matches.filter(isWorth));
  // A question may be about two things, of which one has the rarer name: each contributes its best passage.
  for (const held of rare) {
    const first = matches.find(({ chunkId }) => held.has(chunkId));
    if (first) worth.add(first);
  }
  return matches.filter((match, i) => i === 0 || worth.has(match));
}

/** Contents and title pages only name what other pages discuss: they are dropped if there is another match. */
function contentsLast(matches: readonly Match[], index: SearchIndex): Match[] {
  const texts = index.texts(matches.map(({ chunkId }) => chunkId));
  const says = matches.filter((match) => {
    const text = texts.get(match.chunkId)?.text ?? '';
    return !isContents(text) && !(isTitlePage(text) && match.ordinal === 0 && index.isLong(match));
  });
  return says.length > 0 ? says : [...matches];
}

/** Lines of a contents page: leader dots, then a page number; or numbered headings, each with its page. */
const LEADERS = /(?:\.\s?){4,}\s*[\divxlc]+\s*$|…+\s*[\divxlc]+\s*$/iu;
const HEADING_WITH_PAGE =
  /^\s*(?:\d+(?:\.\d+)*\.?|[ivxlc]+\.|chapter\b|kapitel\b|第)?\s*\p{L}.*[\s\t]\d{1,4}\s*$/iu;
const FEWEST_LINES = 4;

export function isContents(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < FEWEST_LINES) return false;
  const leaders = lines.filter((line) => LEADERS.test(line)).length;
  if (leaders >= lines.length / 3) return true;
  const pages = lines
    .filter((line) => HEADING_WITH_PAGE.test(line))
    .map((line) => Number(/\d+\s*$/u.exec(line)?.[0]));
  const ascending = pages.every((page, i) => i === 0 || page >= (pages[i - 1] ?? 0));
  return pages.length >= lines.length * 0.7 && ascending;
}

/** Characters of a title page, or a dedication, at most. */
const TITLE_PAGE = 300;

export function isTitlePage(text: string): boolean {
  return text.length <= TITLE_PAGE && !/[.!?。！？:：]\s*(?:\n|$)/u.test(text.trim());
}
