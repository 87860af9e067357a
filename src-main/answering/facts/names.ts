import { isStopWord, languageOf, stemOf, WORD, type Language } from '../../catalogue/language.ts';
import { UNSPACED } from '../../catalogue/words.ts';
import { calendar } from './calendar.ts';
import { wordForms } from './haystack.ts';

export interface Name {
  text: string;
  /** UTF-16 range in the text. */
  start: number;
  end: number;
  /** The word as it may appear elsewhere; for several words, or letters and digits, their tokens in sequence. */
  forms: string[];
  /** false: the capital may come from the sentence, or from the language, as in every German noun. */
  sure: boolean;
}

interface Word {
  text: string;
  start: number;
  end: number;
  /** Lower case. */
  lower: string;
}

const QUOTED =
  /"([^"\n]{2,80})"|“([^”\n]{2,80})”|„([^“”\n]{2,80})[“”]|«([^»\n]{2,80})»|[「『《]([^」』》\n]{2,40})[」』》]/gu;
/** A serial number, a model, a product version: letters and digits in one word. */
const CODE = /(?<![\p{Script=Latin}\p{N}])\p{Script=Latin}+[-_/]?\d[\p{Script=Latin}\p{N}]*(?:[-_/.]\d+)*/gu;
/** Words capitalised only because a number follows: "Chapter 7". */
const NUMBERED =
  /^(?:chapter|section|part|page|figure|table|article|step|no|nr|kapitel|abschnitt|teil|seite|artikel)$/u;
/** Forms of address, and abbreviations that documents usually write out. */
const UNTOLD = new Set(
  'i mr mrs ms dr prof sir madam herr frau ok ceo cfo cto coo hr it id url pdf faq tv pc vat eur usd gbp chf cny jpy kvasir'.split(
    ' ',
  ),
);
/** Before a German noun these make a name likely, since a noun would usually have an article. */
const GERMAN_BEFORE_NAMES = new Set(
  'von bei aus nach über für gegen mit und oder als wie ist sind war hat hatte wird wurde kann macht verkauft'.split(
    ' ',
  ),
);
const GERMAN_NOUN = /(?:ung|heit|keit|schaft|tion|tät|nis|tum|ling|ment|ismus|zeit|mal)(?:e?n|e?s|e)?$/u;
/** After the first word of an English sentence these may make it a name. */
const AFTER_SUBJECT = /^(?:'s|’s)|^\s+(?:is|was|has|had|does|did|will|would|can|could)\b/u;
/** How foreign names are written in Chinese. */
const TRANSLITERATED =
  /[阿埃艾安昂奥巴柏班邦鲍贝本比彼宾波伯布查达丹戴德登迪蒂丁杜顿多俄厄恩尔法菲费芬弗福盖甘冈戈格葛古圭哈海汉赫亨胡华霍基吉季加贾简杰金喀卡凯坎康考柯科克肯库夸奎拉莱赖兰朗劳勒雷蕾黎里理利丽莉林琳卢鲁伦罗洛玛马迈麦曼梅门蒙米密明莫姆穆娜纳乃南内妮尼涅宁纽努诺女欧帕潘庞佩彭皮平珀朴普奇琪恰乔切琼丘热日荣茹瑞萨塞赛桑瑟森莎沙珊山尚绍舍申圣施什史士叔舒斯丝思苏索塔泰坦唐汤特滕提汀廷图托瓦万旺威韦维伟魏温文翁沃乌武西希锡夏香肖谢辛欣兴休许逊雅亚扬耶叶伊依易因茵英永尤约泽扎詹珍芝治朱兹子祖佐]{3,}/gu;

/** The names in a text, ascending: quoted words, codes, and words whose capital does not come from the sentence. */
export function namesOf(text: string): Name[] {
  const language = languageOf(text);
  const quoted = [...text.matchAll(QUOTED)].flatMap((match) => sequence(inner(match), match.index + 1));
  const codes = [...text.matchAll(CODE)].filter(([code]) => !/^\p{Ll}+-/u.test(code));
  const others = [
    ...codes.flatMap(({ 0: code, index }) => sequence(code, index)),
    ...[...text.matchAll(TRANSLITERATED)].map(({ 0: name, index }) => nameAt(name, index, [name])),
    ...capitalised(text, language),
  ];
  return others
    .reduce<Name[]>(
      (found, name) => (found.some((other) => overlap(other, name)) ? found : [...found, name]),
      quoted,
    )
    .sort((a, b) => a.start - b.start);
}

function inner([whole, ...groups]: RegExpMatchArray): string {
  return groups.find((group: string | undefined) => group !== undefined) ?? whole;
}

function nameAt(text: string, start: number, forms: string[], sure = true): Name {
  return { text, start, end: start + text.length, forms, sure };
}

/** A name that matches where its tokens appear in sequence. */
function sequence(text: string, start: number): Name[] {
  const tokens = wordForms.tokens(text);
  return tokens.length > 0 ? [nameAt(text, start, [` ${tokens.join(' ')} `])] : [];
}

export function overlap(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end;
}

function capitalised(text: string, language: Language): Name[] {
  const spaced = text.replace(UNSPACED, (run) => ' '.repeat(run.length));
  const words = [...spaced.matchAll(WORD)].map(({ 0: word, index }): Word => ({
    text: word,
    start: index,
    end: index + word.length,
    lower: word.toLowerCase(),
  }));
  if (isTitled(words, language)) return [];
  return words.flatMap((word, i) => {
    if (!/^\p{Ll}?\p{Lu}/u.test(word.text) || word.text.length < 2) return [];
    if (/\d/u.test(word.text) || isCommon(word, words[i + 1], language)) return [];
    const sure = isSure(text, words, i, language);
    return sure === undefined ? [] : [nameAt(word.text, word.start, formsOf(word, language), sure)];
  });
}

/** Capitals carry no information in headings and in all-capitals text. */
function isTitled(words: readonly Word[], language: Language): boolean {
  const joining = words.slice(1).filter(({ lower, text }) => text !== 'I' && isStopWord(lower, language));
  const raised = joining.filter(({ text }) => /^\p{Lu}/u.test(text)).length;
  return words.length > 2 && raised > joining.length / 2;
}

function isCommon({ lower }: Word, next: Word | undefined, language: Language): boolean {
  if (UNTOLD.has(lower) || isStopWord(lower, language) || isStopWord(lower, 'en')) return true;
  const { months, weekdays } = calendar();
  if (months.has(lower) || weekdays.has(lower) || weekdays.has(lower.replace(/s$/u, ''))) return true;
  return NUMBERED.test(lower) && /^\d/u.test(next?.text ?? '');
}

/** undefined: not a name. */
function isSure(text: string, words: readonly Word[], i: number, language: Language): boolean | undefined {
  const [word, previous, next] = [words[i], words[i - 1], words[i + 1]];
  if (!word) return undefined;
  const unusual = /.\p{Lu}/u.test(word.text);
  const amidUnspaced = text.slice(Math.max(0, word.start - 1), word.end + 1).search(UNSPACED) >= 0;
  if (unusual || amidUnspaced) return true;
  const first = beginsSentence(text.slice(previous?.end ?? 0, word.start), previous);
  const beside = [previous, next].some((other) => other && isBeside(text, word, other, language));
  if (language === 'de') {
    if (beside && !first) return true;
    const likely = !first && GERMAN_BEFORE_NAMES.has(previous?.lower ?? '') && !GERMAN_NOUN.test(word.lower);
    return likely ? false : undefined;
  }
  if (!first) return true;
  if (next && isBeside(text, word, next, language)) return true;
  return AFTER_SUBJECT.test(text.slice(word.end)) ? false : undefined;
}

/** Whether a word's capital comes from the sentence, list item or quotation that it begins. */
function beginsSentence(between: string, previous: Word | undefined): boolean {
  if (!previous) return true;
  const short = /^\p{L}{1,2}$/u.test(previous.text) || UNTOLD.has(previous.lower);
  const abbreviated = short && /^\.\s+$/u.test(between);
  return /[.!?:;…。！？：；\n•*#|–—"“”„«»()]/u.test(between) && !abbreviated;
}

/** Whether two capitalised words are adjacent, as first and last names are. */
function isBeside(text: string, word: Word, other: Word, language: Language): boolean {
  const between =
    word.start < other.start ? text.slice(word.end, other.start) : text.slice(other.end, word.start);
  return between === ' ' && /^\p{Lu}\p{Ll}/u.test(other.text) && !isCommon(other, undefined, language);
}

function formsOf({ lower }: Word, language: Language): string[] {
  const stems = (['en', language] as const).map((each) => stemOf(lower, each));
  return [...new Set([lower, ...stems].map((word) => wordForms.key(word)))];
}
