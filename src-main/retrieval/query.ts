/** Words that stand in most questions and most documents: they cost time and blur the ranking. */
const STOP_WORDS = new Set(
  `a about an and any are as at be been but by can could did do does for from had has have he her hers him his how i if in into is it its
   me my of on or our she should so than that the their them then there these they this those to us was we were what when where which
   who whom whose why will with would you your`.split(/\s+/),
);

/** More distinct words do not make a search better. */
const MAX_TERMS = 64;

/**
 * A question as an FTS5 query: its words, each quoted so that nothing in it is syntax, any of which may match.
 * Empty when the question has no word.
 */
export function matchQuery(question: string): string {
  const words = [
    ...new Set(
      (
        question
          .normalize('NFC')
          .toLowerCase()
          .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
      ).values(),
    ),
  ];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words)
    .slice(0, MAX_TERMS)
    .map((word) => `"${word}"`)
    .join(' OR ');
}
