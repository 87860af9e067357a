/**
 * Words for the full-text index. SQLite's tokenizer splits at spaces and punctuation, which Chinese, Japanese and often
 * Korean do without; there each pair of neighbouring characters stands as a word (decision 0060).
 */

/** Characters written without spaces between words. ー belongs to no script of its own. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;

/** The part of such text that says something: kana that are not katakana mostly hold a Japanese sentence together. */
const TELLING_UNSPACED = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;

/** Stand in most Chinese questions. */
const CHINESE_STOP_WORDS =
  /为什么|什么|怎么样|怎么|怎样|如何|哪里|哪儿|哪个|哪些|多少|是否|可以|请问|我们|你们|他们|她们|它们|这个|那个|这些|那些|[的了吗呢吧啊谁是]/gu;

/** Stand in most English questions and documents: they cost time and blur the ranking. */
const STOP_WORDS = new Set(
  `a about an and any are as at be been but by can could did do does for from had has have he her hers him his how i if in into is it its
   me my of on or our she should so than that the their them then there these they this those to us was we were what when where which
   who whom whose why will with would you your`.split(/\s+/),
);

/** More distinct words do not make a search better. */
const MAX_TERMS = 64;

/** A text as SQLite's tokenizer gets it. Every character of an unspaced run begins one word: its pair, or at the end itself. */
export function indexedText(text: string): string {
  return text.normalize('NFKC').replace(UNSPACED, (run) => ` ${pairs(run).join(' ')} `);
}

/** What a question looks for: words, and pieces of unspaced text. */
interface Terms {
  /** Lower case. */
  words: string[];
  /** Without spaces or punctuation; one character or more. */
  pieces: string[];
}

export function termsOf(question: string): Terms {
  const text = question.normalize('NFKC').toLowerCase();
  const spaced = text.replace(UNSPACED, ' ');
  const words = [...new Set(spaced.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])];
  const runs = [...new Set(text.match(UNSPACED) ?? [])];
  const pieces = [
    ...new Set(runs.flatMap((run) => run.replace(CHINESE_STOP_WORDS, ' ').match(TELLING_UNSPACED) ?? [])),
  ];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  if (telling.length > 0 || pieces.length > 0) return { words: telling, pieces };
  return { words, pieces: runs };
}

/**
 * A question as an FTS5 query: its words, each quoted so that nothing in it is syntax, any of which may match.
 * Empty when the question has no word.
 */
export function matchQuery(question: string): string {
  const { words, pieces } = termsOf(question);
  const terms = [...words.map(quoted), ...pieces.flatMap(pieceTerms)];
  return [...new Set(terms)].slice(0, MAX_TERMS).join(' OR ');
}

/** One character matches the pairs that begin with it: all places where it stands. */
function pieceTerms(piece: string): string[] {
  const all = pairs(piece);
  return all.length === 1 ? all.map((one) => `${quoted(one)} *`) : all.slice(0, -1).map(quoted);
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.map((character, i) => character + (characters[i + 1] ?? ''));
}

function quoted(word: string): string {
  return `"${word}"`;
}
