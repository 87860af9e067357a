import { languageOf, stemOf, WORD } from '../../catalogue/language.ts';
import { UNSPACED, withoutMarks } from '../../catalogue/words.ts';
import { figuresOf, numberForm } from './figures.ts';

/** Texts prepared for looking up facts. */
export interface Haystack {
  /** Words and their stems, without marks. */
  words: ReadonlySet<string>;
  /** All tokens in sequence, with a space on either side; letters and digits are separate tokens. */
  tokens: string;
  /** The same without spaces. */
  compact: string;
  /** Forms of numbers and dates. */
  figures: ReadonlySet<string>;
  /** Initials of consecutive capitalised words, as "ec" of "European Commission". */
  initials: readonly string[];
}

const TOKEN = /\p{Script=Han}|[\p{L}\p{M}]+|\p{N}+/gu;
const NUMERALS = [
  'zero one two three four five six seven eight nine ten eleven twelve',
  'null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
].map((names) => names.split(' '));
/** The maximum number of letters by which an inflected or derived form may be longer than a name. */
const ENDING = 3;
/** "Norwegian" of Norway. */
const OF_A_PLACE = /(?:ian|ish|ese|ean)s?$/u;
/** Shorter words are prefixes or parts of too many others. */
const TELLING = 4;

export const wordForms = {
  /** A word in lower case, without spelling variants: marks, "ß" or "ss", "ü" or "ue". */
  key: (word: string): string =>
    withoutMarks(word.normalize('NFKC').toLowerCase())
      .replace(/ß/gu, 'ss')
      .replace(/([aou])e/gu, '$1'),
  /** A text's words and digits in sequence. */
  tokens: (text: string): string[] =>
    (text.normalize('NFKC').match(TOKEN) ?? []).map((token) => wordForms.key(token)),
};

export function haystackOf(texts: readonly string[]): Haystack {
  const words = new Set<string>();
  const figures = new Set<string>();
  const initials: string[] = [];
  for (const text of texts) {
    const language = languageOf(text);
    for (const [word] of text.normalize('NFKC').toLowerCase().replace(UNSPACED, ' ').matchAll(WORD))
      for (const form of [word, stemOf(word, language)]) words.add(wordForms.key(form));
    for (const form of figureForms(text)) figures.add(form);
    for (const [run] of text.matchAll(
      /\p{Lu}[\p{L}\p{M}]*(?:[ -](?:(?:of|and|the|for|und|der) )?\p{Lu}[\p{L}\p{M}]*)+/gu,
    ))
      initials.push((run.match(/\p{Lu}/gu) ?? []).join('').toLowerCase());
  }
  const tokens = texts.map((text) => wordForms.tokens(text).join(' '));
  return {
    words,
    figures,
    initials,
    tokens: ` ${tokens.join(' | ')} `,
    compact: tokens.join('|').replaceAll(' ', ''),
  };
}

/** Numbers and dates, and what they imply: a date its year, month and day, a code its digits, a word its number. */
export function* figureForms(text: string): Generator<string> {
  for (const { forms } of figuresOf(text)) {
    yield* forms;
    for (const form of forms) yield* partsOfDate(form);
  }
  for (const [digits] of text.matchAll(/\d{2,}/gu)) yield numberForm(Number(digits));
  const words = new Set(text.toLowerCase().match(WORD));
  for (const names of NUMERALS)
    for (const [value, name] of names.entries()) if (words.has(name)) yield String(value);
  for (const { forms } of chineseFigures(text)) yield* forms;
}

/** Numbers written as "三千", and their forms. */
export function chineseFigures(text: string): { start: number; end: number; forms: string[] }[] {
  return [...text.matchAll(/[〇零一二两三四五六七八九十百千万亿]+/gu)].flatMap(({ 0: numeral, index }) => {
    const value = chineseNumber(numeral);
    if (value === undefined) return [];
    return [{ start: index, end: index + numeral.length, forms: [numberForm(value)] }];
  });
}

function* partsOfDate(form: string): Generator<string> {
  const [year = '', month, day] = form.split('-');
  if (month === undefined) return;
  if (year !== '') yield year;
  if (day !== '' && year !== '') yield* [`${year}-${month}-`, `-${month}-${day}`];
}

function chineseNumber(numeral: string): number | undefined {
  let [total, section, digit] = [0, 0, 0];
  if (/^[〇零一二三四五六七八九]{2,}$/u.test(numeral))
    return Number(
      Array.from(numeral, (each) => '零一二三四五六七八九'.indexOf(each.replace('〇', '零'))).join(''),
    );
  for (const each of numeral.replaceAll('〇', '零').replaceAll('两', '二')) {
    const value = '零一二三四五六七八九'.indexOf(each);
    const unit = { 十: 10, 百: 100, 千: 1000 }[each];
    const large = { 万: 1e4, 亿: 1e8 }[each];
    if (value >= 0) digit = value;
    else if (unit !== undefined) [section, digit] = [section + (digit === 0 ? 1 : digit) * unit, 0];
    else if (large !== undefined) [total, section, digit] = [(total + section + digit) * large, 0, 0];
    else return undefined;
  }
  return total + section + digit;
}

/** Whether the texts contain a word as it is, inflected, as part of a longer word, or as initials. */
export function holdsWord({ words, compact, initials }: Haystack, forms: readonly string[]): boolean {
  const exact = forms.some((form) => words.has(form));
  if (exact) return true;
  const [form = ''] = forms;
  if (form.length <= 5 && initials.some((run) => run.includes(form))) return true;
  if (form.length < TELLING) return false;
  if (form.length > TELLING + 1 && compact.includes(form)) return true;
  const sameBeginning = (longer: string, shorter: string): boolean =>
    shorter.length >= TELLING && longer.length - shorter.length <= ENDING && longer.startsWith(shorter);
  const place = form.length > TELLING + 2 && OF_A_PLACE.test(form) ? form.slice(0, TELLING) : undefined;
  for (const word of words) {
    if (sameBeginning(word, form) || sameBeginning(form, word)) return true;
    if (place !== undefined && word.startsWith(place)) return true;
  }
  return false;
}
