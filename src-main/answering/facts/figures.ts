import { calendar } from './calendar.ts';

/** A number, time or date in a text. */
export interface Figure {
  text: string;
  /** UTF-16 range in the text. */
  start: number;
  end: number;
  kind: 'number' | 'date';
  /** Normal forms; several where the notation is ambiguous: "1.000" is 1 or 1000. */
  forms: string[];
}

/** A notation and the forms of its match; none: not a figure after all. */
interface Notation {
  pattern: RegExp;
  kind: Figure['kind'];
  forms: (match: RegExpExecArray) => string[];
}

const DAY = String.raw`(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º)?\.?`;
const CLOCK = String.raw`(?<![\d:.,])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])(?:\s*([ap])\.?m\b)?`;
const HOUR = String.raw`(?<![\d:.,])(\d{1,2})(?:[.:](\d{2}))?\s*(?:([ap])\.?m\b|Uhr\b)`;

let known: readonly Notation[] | undefined;

/** The first that matches at a position wins. */
function notations(): readonly Notation[] {
  if (known) return known;
  // The longest name first: the first one that matches is taken.
  const names = [...calendar().months.keys()].sort((a, b) => b.length - a.length);
  const month = `(${names.join('|')})(?![\\p{L}\\p{M}])\\.?`;
  known = [
    date(String.raw`(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)`, (y, m, d) => [[y, m, d]]),
    date(String.raw`(?<![\d.])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d.]\d)`, (a, _, b, y) =>
      centuries(y).flatMap((year) => [
        [year, b, a],
        [year, a, b],
      ]),
    ),
    date(String.raw`(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号號])?`, (y, m, d) => [[y, m, d]]),
    date(String.raw`(?<!\d)(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]`, (m, d) => [['', m, d]]),
    date(`${DAY}\\s*(?:of |de )?${month}(?:,?\\s*(?:de )?(\\d{4})(?!\\d))?`, (d, m, y) => [
      [y, monthOf(m), d],
    ]),
    date(`(?=\\p{Lu})${month}\\s+${DAY}(?!\\d)(?:,?\\s+(\\d{4})(?!\\d))?`, (m, d, y) => [[y, monthOf(m), d]]),
    date(`(?=\\p{Lu})${month},?\\s+(?:de )?(\\d{4})(?!\\d)`, (m, y) => [[y, monthOf(m), '']]),
    { pattern: sticky(CLOCK), kind: 'number', forms: timesOf },
    { pattern: sticky(HOUR), kind: 'number', forms: timesOf },
    {
      pattern: sticky(
        String.raw`(?<!\d)(?:\d{1,3}(?:[\u00a0\u202f '’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)(?:[-\s]?(\p{L}+))?`,
      ),
      kind: 'number',
      forms: numbersOf,
    },
  ];
  return known;
}

/** The numbers, times and dates of a text, ascending. */
export function figuresOf(text: string): Figure[] {
  const figures: Figure[] = [];
  for (let at = nextDigit(text, 0); at < text.length;) {
    const figure = figureAt(text, at);
    if (figure) figures.push(figure);
    at = nextDigit(text, figure ? figure.end : endOfDigits(text, at));
  }
  return figures;
}

/** A place where a figure may begin: a digit, or the first letter of a word that may be a month. */
function nextDigit(text: string, from: number): number {
  const start = /\d|(?<![\p{L}\p{M}])\p{Lu}/gu;
  start.lastIndex = from;
  return start.exec(text)?.index ?? text.length;
}

function endOfDigits(text: string, at: number): number {
  const run = /\d+|./suy;
  run.lastIndex = at;
  return at + (run.exec(text)?.[0].length ?? 1);
}

function figureAt(text: string, at: number): Figure | undefined {
  for (const { pattern, kind, forms } of notations()) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const found = match ? forms(match) : [];
    if (!match || found.length === 0) continue;
    const shown = forms === numbersOf ? withoutUnit(match) : match[0];
    const end = at + shown.length;
    return { text: shown, start: at, end, kind, forms: found };
  }
  return undefined;
}

/** The word after a number belongs to it if it states a magnitude. */
function withoutUnit([whole, word = '']: RegExpExecArray): string {
  return scaleOf(word).some((scale) => scale !== 1) ? whole : digitsOf(whole, word);
}

function digitsOf(whole: string, word: string): string {
  return whole.slice(0, whole.length - word.length).replace(/[-\s]+$/u, '');
}

type Parts = [year: string | number, month: string | number, day: string | number];

function date(source: string, parts: (...groups: string[]) => Parts[]): Notation {
  return {
    pattern: sticky(source),
    kind: 'date',
    forms: ([, ...groups]) => [
      ...new Set(parts(...groups.map((group: string | undefined) => group ?? '')).flatMap(dateForm)),
    ],
  };
}

function sticky(source: string): RegExp {
  return new RegExp(source, 'iuy');
}

/** Year, month and day, each empty where absent; nothing if there is no such date. */
function dateForm([year, month, day]: Parts): string[] {
  const valid =
    Number(month) >= 1 && Number(month) <= 12 && (day === '' || (Number(day) >= 1 && Number(day) <= 31));
  return valid ? [`${year}-${Number(month)}-${day === '' ? '' : Number(day)}`] : [];
}

/** 0 if it is not a month: three letters in lower case are mostly another word ("out", "set", "may"). */
function monthOf(name: string): number {
  if (name.length <= 3 && name === name.toLowerCase()) return 0;
  return calendar().months.get(name.toLowerCase()) ?? 0;
}

function centuries(year: string): string[] {
  return year.length === 4 ? [year] : [`20${year}`, `19${year}`];
}

function timesOf([, hours = '', minutes = '00', half]: RegExpExecArray): string[] {
  const hour = Number(hours);
  if (hour > 24 || Number(minutes) > 59) return [];
  const early = half?.toLowerCase() === 'p' ? [] : [half ? hour % 12 : hour];
  const late = half?.toLowerCase() === 'a' || hour > 12 ? [] : [(hour % 12) + 12];
  return [...early, ...late].map((each) => `${each}:${minutes}`);
}

/** The factor that a word or sign after a number stands for; a bare "m" may mean metres. */
const SCALES: readonly [RegExp, readonly number[]][] = [
  [/^(?:thousand|tausend|k|mille|mil|千)$/iu, [1e3]],
  [/^m$/iu, [1, 1e6]],
  [/^(?:million(?:s|en|es)?|mio|mln|mn|millones|milhões|milioni)$/iu, [1e6]],
  [/^(?:milliarden?|mrd|milliards?|miliardi)$/iu, [1e9]],
  [/^(?:billions?|billionen|bn)$/iu, [1e9, 1e12]],
  [/^b$/iu, [1, 1e9]],
  [/^trillion(?:s|en)?$/iu, [1e12, 1e18]],
  [/^[万萬]/u, [1e4]],
  [/^[亿億]/u, [1e8]],
  [/^千/u, [1e3]],
];

function scaleOf(word: string): readonly number[] {
  return SCALES.find(([pattern]) => pattern.test(word))?.[1] ?? [1];
}

function numbersOf([whole, word = '']: RegExpExecArray): string[] {
  const digits = digitsOf(whole, word);
  const scales = scaleOf(word);
  if (/(?:[.,]\d+){2}/u.test(digits) && valuesOf(digits).length === 0) return [digits]; // a version, an address
  const forms = valuesOf(digits).flatMap((value) => scales.map((scale) => numberForm(value * scale)));
  return [...new Set(forms)];
}

/** A value as written in forms. */
export function numberForm(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** "1,000", "1.000", "1 000" and "1'000" are one number, and the first two may also be 1. */
function valuesOf(digits: string): number[] {
  const bare = digits.replace(/[\u00a0\u202f '’]/gu, '');
  const last = /[.,](?=\d*$)/u.exec(bare)?.[0];
  if (last === undefined) return [Number(bare)];
  const [whole = '', ...groups] = bare.split(last);
  const grouped = (parts: readonly string[]): boolean => parts.every((part) => part.length === 3);
  const otherwise = whole.replace(/[.,]/gu, '');
  if (groups.length > 1) return grouped(groups) ? [Number(bare.replace(/[.,]/gu, ''))] : [];
  const decimal = Number(`${otherwise}.${groups[0] ?? ''}`);
  const mayBeGrouped = otherwise === whole && grouped(groups) && whole.length <= 3 && !whole.startsWith('0');
  return mayBeGrouped ? [decimal, Number(bare.replace(/[.,]/gu, ''))] : [decimal];
}
