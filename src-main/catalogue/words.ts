import { isStopWord, languageOf, stemOf, WORD, type Language } from './language.ts';

/**
 * Words for the full-text index. SQLite's tokenizer splits at spaces and punctuation, which Chinese, Japanese and often Korean do without;
 * there each pair of neighbouring characters counts as a word (decision 0060).
 */

/** Characters written without spaces between words. ー belongs to no specific script. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;

const UNSPACED_START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

/** The meaningful part of such text: kana other than katakana mostly hold a Japanese sentence together. */
const TELLING_UNSPACED = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;

/** Shorter words are not what a misspelt one means. */
const ALPHABETIC = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{3,}$/u;

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;

/** Words in most Chinese questions. */
const CHINESE_STOP_WORDS =
  /为什么|什么|怎么样|怎么|怎样|如何|哪里|哪儿|哪个|哪些|多少|是否|可以|请问|我们|你们|他们|她们|它们|这个|那个|这些|那些|[的了吗呢吧啊谁是]/gu;

/**
 * The input for SQLite's tokenizer: words as their stems in `language`. Every character of an unspaced run begins one word: its pair, or at
 * the end the character alone.
 */
export function indexedText(text: string, language: Language): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(UNSPACED, (run) => ` ${pairs(run).join(' ')} `)
    .replace(WORD, (word) => (UNSPACED_START.test(word) ? word : stemOf(word, language)));
}

/** The words of a text in sequence; in unspaced text each character is one. */
export function sequenceOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? []; // equivalent, four times as fast
  const spaced = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(UNSPACED, (run) => ` ${Array.from(run).join(' ')} `);
  return spaced.match(WORD) ?? [];
}

/** The distinct words of indexed text that are written in letters of an alphabet, as SQLite's tokenizer stores them. */
export function lettersOnly(indexed: string): string[] {
  const words = indexed.match(WORD) ?? [];
  return [...new Set(words)].map(withoutMarks).filter((word) => ALPHABETIC.test(word));
}

/** The distinct words of a text; for unspaced text the pairs. */
export function wordsOf(text: string): string[] {
  const spaced = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(UNSPACED, (run) => ` ${pairs(run).join(' ')} `);
  return [...new Set(spaced.match(WORD) ?? [])];
}

/** The longest word of a title: a text that contains the title contains this word. */
export function titleWord(title: string): string {
  return wordsOf(title).reduce((longest, word) => (word.length > longest.length ? word : longest), '');
}

/** The search terms of a question: words, and pieces of unspaced text. */
interface Terms {
  /** Lower case. */
  words: string[];
  /** Without spaces or punctuation; at least one character. */
  pieces: string[];
}

export function termsOf(question: string): Terms {
  const telling = tellingTerms(question);
  if (telling.words.length > 0 || telling.pieces.length > 0) return telling;
  const { words, runs } = spelled(question);
  return { words, pieces: runs };
}

/** The search terms besides function words; none for a question such as "What is this about?". */
export function tellingTerms(question: string): Terms {
  const { spaced, words, runs } = spelled(question);
  const language = languageOf(spaced);
  const pieces = [
    ...new Set(runs.flatMap((run) => run.replace(CHINESE_STOP_WORDS, ' ').match(TELLING_UNSPACED) ?? [])),
  ];
  return { words: words.filter((word) => !isStopWord(word, language)), pieces };
}

function spelled(question: string): { spaced: string; words: string[]; runs: string[] } {
  const text = question.normalize('NFKC').toLowerCase();
  const spaced = text.replace(UNSPACED, ' ');
  const words = [...new Set(spaced.match(WORD) ?? [])];
  return { spaced, words, runs: [...new Set(text.match(UNSPACED) ?? [])] };
}

/** A word as indexed, or a prefix. */
export interface Term {
  text: string;
  prefix?: boolean;
}

/** The search terms of a question in texts in these languages: the stems of its words there. */
export function termsFor(question: string, languages: readonly Language[]): Term[] {
  const { words, pieces } = termsOf(question);
  const stems = words.flatMap((word) => languages.map((language) => stemOf(word, language)));
  const whole = [...new Set([...stems, ...pieces.flatMap((piece) => pairs(piece).slice(0, -1))])];
  const single = pieces.filter((piece) => Array.from(piece).length === 1);
  return [...whole.map((text) => ({ text })), ...single.map((text) => ({ text, prefix: true }))];
}

/** A question's word, or a pair of its unspaced text, and its possible forms in the index. */
export interface WordTerms {
  word: string;
  terms: Term[];
}

/** As termsFor, by word. */
export function termsByWord(question: string, languages: readonly Language[]): WordTerms[] {
  const { words, pieces } = termsOf(question);
  const spaced = words.map((word) => ({
    word,
    terms: [...new Set(languages.map((language) => stemOf(word, language)))].map((text) => ({ text })),
  }));
  const paired = pieces.flatMap((piece) => pairs(piece).slice(0, -1));
  return [...spaced, ...[...new Set(paired)].map((text) => ({ word: text, terms: [{ text }] }))];
}

/** A term in FTS5's syntax; quoted, so that nothing in it is parsed as syntax. A single character matches the pairs that begin with it. */
export function ftsTerm({ text, prefix }: Term): string {
  return prefix === true ? `"${text}" *` : `"${text}"`;
}

/** A term as SQLite's tokenizer stores it. */
export function withoutMarks(text: string): string {
  return text.normalize('NFD').replace(/\p{M}+/gu, '');
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.map((character, i) => character + (characters[i + 1] ?? ''));
}
