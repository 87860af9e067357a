import { roman } from '../roman.ts';
import { attribute, element, elements, type XmlElement } from '../xml.ts';

interface Level {
  start: number;
  format: string;
  /** `%1.%2`: places of the numbers of this level and those above. */
  text: string;
  /** The level at which, or above which, a number begins again; 0: never. */
  restart: number | undefined;
  legal: boolean;
  style: string | undefined;
}

const LEVELS = 9;

/** Automatic numbers of a Word document's paragraphs (ECMA-376 part 1, 17.9). They are not in its text. */
export class WordNumbers {
  readonly #lists = new Map<string, (Level | undefined)[]>();
  /** By numbering instance: its list, and the levels that it defines or starts itself. */
  readonly #instances = new Map<
    string,
    { list: string; levels: (Level | undefined)[]; starts: Map<number, number> }
  >();
  /** By list: instances of one list go on counting. */
  readonly #counts = new Map<string, (number | undefined)[]>();
  readonly #started = new Set<string>();

  /** `listOfStyle`: the instance that a numbering style names. */
  constructor(numbering: XmlElement | undefined, listOfStyle: (style: string) => string | undefined) {
    const links = new Map<string, string>();
    for (const list of elements(numbering, 'abstractNum')) {
      const id = attribute(list, 'abstractNumId') ?? '';
      this.#lists.set(id, levelsOf(list));
      const link = value(list, 'numStyleLink');
      if (link !== undefined) links.set(id, link);
    }
    const instances = elements(numbering, 'num');
    const listOf = new Map(
      instances.map((num) => [attribute(num, 'numId') ?? '', value(num, 'abstractNumId') ?? '']),
    );
    for (const num of instances) {
      const own = value(num, 'abstractNumId') ?? '';
      const linked = listOf.get(listOfStyle(links.get(own) ?? '') ?? '');
      const list = links.has(own) && linked !== undefined ? linked : own;
      this.#instances.set(attribute(num, 'numId') ?? '', {
        list,
        ...overrides(num, this.#lists.get(list) ?? []),
      });
    }
  }

  /** The level that is bound to a paragraph style. */
  levelOfStyle(instance: string, style: string): number | undefined {
    const at = this.#instances.get(instance)?.levels.findIndex((level) => level?.style === style) ?? -1;
    return at < 0 ? undefined : at;
  }

  /** The next number, as it is shown: `(a)`, `1.1`, `-` for a bullet, '' for none. */
  next(instance: string, at: number): string {
    const found = this.#instances.get(instance);
    const level = found?.levels[at];
    if (!found || !level) return '';
    const counts = this.#counts.get(found.list) ?? [];
    this.#counts.set(found.list, counts);
    const begun = `${instance} ${at}`;
    const start = this.#started.has(begun) ? undefined : found.starts.get(at);
    this.#started.add(begun);
    counts[at] = start ?? (counts[at] === undefined ? level.start : counts[at] + 1);
    // A number below one that does not occur counts it: after "2.a.I" comes "2.b".
    for (let above = 0; above < at; above += 1) counts[above] ??= found.levels[above]?.start;
    for (let below = at + 1; below < LEVELS; below += 1) {
      const restart = found.levels[below]?.restart ?? below;
      if (restart !== 0 && at < restart) counts[below] = undefined;
    }
    if (level.format === 'bullet') return '-';
    return level.text
      .replace(/%(\d)/g, (_, digit: string) => {
        const place = Number(digit) - 1;
        const shown = found.levels[place];
        const format = level.legal && place !== at ? 'decimal' : (shown?.format ?? 'decimal');
        return formatNumber(counts[place] ?? shown?.start ?? 1, format);
      })
      .trim();
  }
}

function levelsOf(list: XmlElement): (Level | undefined)[] {
  const levels: (Level | undefined)[] = [];
  for (const level of elements(list, 'lvl')) {
    const at = Number(attribute(level, 'ilvl'));
    if (at >= 0 && at < LEVELS) levels[at] = levelOf(level);
  }
  return levels;
}

function levelOf(level: XmlElement): Level {
  const restart = value(level, 'lvlRestart');
  const legal = element(level, 'isLgl');
  return {
    start: Number(value(level, 'start') ?? 0),
    format:
      value(level, 'numFmt') ?? value(element(level, 'AlternateContent', 'Choice'), 'numFmt') ?? 'decimal',
    text: value(level, 'lvlText') ?? '',
    restart: restart === undefined ? undefined : Number(restart),
    legal: legal !== undefined && isOn(legal),
    style: value(level, 'pStyle'),
  };
}

function overrides(
  num: XmlElement,
  inherited: readonly (Level | undefined)[],
): { levels: (Level | undefined)[]; starts: Map<number, number> } {
  const levels = [...inherited];
  const starts = new Map<number, number>();
  for (const override of elements(num, 'lvlOverride')) {
    const at = Number(attribute(override, 'ilvl'));
    const own = element(override, 'lvl');
    if (!(at >= 0 && at < LEVELS)) continue;
    if (own) levels[at] = levelOf(own);
    const start = value(override, 'startOverride');
    if (start !== undefined) starts.set(at, Number(start));
  }
  return { levels, starts };
}

/** The `val` of a child element. */
export function value(parent: XmlElement | undefined, name: string): string | undefined {
  const child = element(parent, name);
  return child && attribute(child, 'val');
}

/** A switch is on unless its value says otherwise (ECMA-376 part 1, 17.17.4). */
export function isOn(property: XmlElement): boolean {
  return !['0', 'false', 'off', 'none'].includes(attribute(property, 'val') ?? 'true');
}

const CHINESE = '〇一二三四五六七八九';
const RUSSIAN = 'абвгдежзиклмнопрстуфхцчшщэюя';

/** A number in a format of ECMA-376 part 1, 17.18.59; in digits if it is a rare one. */
export function formatNumber(number: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
      return letter(number, 'abcdefghijklmnopqrstuvwxyz');
    case 'upperLetter':
      return letter(number, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    case 'lowerRoman':
      return formatNumber(number, 'upperRoman').toLowerCase();
    case 'upperRoman':
      return number >= 1 && number <= 4999 ? roman(number) : String(number);
    case 'russianLower':
      return letter(number, RUSSIAN);
    case 'russianUpper':
      return letter(number, RUSSIAN.toUpperCase());
    case 'decimalZero':
      return String(number).padStart(2, '0');
    case 'ordinal':
      return `${number}${ordinalEnding(number)}`;
    case 'none':
    case 'bullet':
      return '';
    case 'decimalEnclosedCircle':
      return number >= 1 && number <= 20 ? String.fromCodePoint(0x245f + number) : String(number);
    default:
      return /^(chinese|japaneseCounting|taiwaneseCounting|ideographDigital)/.test(format)
        ? chinese(number)
        : String(number);
  }
}

/** a … z, aa … zz. */
function letter(number: number, alphabet: string): string {
  if (number < 1) return String(number);
  const times = Math.min(Math.ceil(number / alphabet.length), 50);
  return (alphabet[(number - 1) % alphabet.length] ?? '').repeat(times);
}

function ordinalEnding(number: number): string {
  const category = new Intl.PluralRules('en', { type: 'ordinal' }).select(number);
  return { one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' }[category];
}

function chinese(number: number): string {
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  if (number < 1 || number > 99) return String(number);
  return `${tens > 1 ? (CHINESE[tens] ?? '') : ''}${tens > 0 ? '十' : ''}${ones > 0 ? (CHINESE[ones] ?? '') : ''}`;
}
