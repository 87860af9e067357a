import { DFA } from 'refa';
import type { Language } from './languages.ts';

type State = DFA.ReadonlyNode;
type Range = Readonly<{ min: number; max: number }>;

/** Within the quotes of a string, or in a number, true, false or null. */
type Place = 'string' | 'bare';

/** Where the rules of a grammar go. */
export interface RuleBook {
  /** A name for a rule whose body follows. */
  reserve(): string;
  define(name: string, body: string): void;
  /** The name of the rule with this body. */
  rule(body: string): string;
}

const QUOTE = String.raw`"\""`;

/** The rules of scalars, each language once: a rule for each state, which is read as fast as it is long. */
export class TextRules {
  readonly #book: RuleBook;
  readonly #known = new Map<string, string>();

  constructor(book: RuleBook) {
    this.#book = book;
  }

  /** What is written for a language of JSON texts, in which strings have no escapes and no last quote. */
  of(language: Language): string {
    const key = signature(language);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.#written(language);
    this.#known.set(key, made);
    return made;
  }

  #written({ initial, finals }: Language): string {
    const names = new Map<string, string>();
    const numbers = new Map<State, number>();
    const open: [name: string, state: State, place: Place][] = [];
    const next = (state: State, place: Place): string => {
      const isFinal = finals.has(state as DFA.Node);
      if (isFinal && state.out.isEmpty) return place === 'string' ? QUOTE : '';
      const [way, ...others] = waysFrom(state);
      if (place === 'string' && isFinal && way?.[0] === state && others.length === 0 && isAny(way[1]))
        return `char* ${QUOTE}`;
      if (!isFinal && way && others.length === 0)
        return `${this.#characters(way[1], place)} ${next(way[0], placeAfter(way[1], place))}`;
      numbers.set(state, numbers.get(state) ?? numbers.size);
      const key = `${place}${numbers.get(state)}`;
      const known = names.get(key);
      if (known !== undefined) return known;
      const name = this.#book.reserve();
      names.set(key, name);
      open.push([name, state, place]);
      return name;
    };
    const first = next(initial, 'bare');
    for (let each = open.pop(); each; each = open.pop()) {
      const [name, state, place] = each;
      const ways = waysFrom(state).map(
        ([target, ranges]) => `${this.#characters(ranges, place)} ${next(target, placeAfter(ranges, place))}`,
      );
      if (finals.has(state as DFA.Node)) ways.push(place === 'string' ? QUOTE : '""');
      this.#book.define(name, ways.join(' | '));
    }
    return first;
  }

  #characters(ranges: readonly Range[], place: Place): string {
    const [{ min, max } = { min: 0, max: 0 }, ...more] = ranges;
    if (more.length === 0 && min === max)
      return literal(place === 'bare' ? String.fromCodePoint(min) : escaped(min));
    if (place === 'bare') return `[${ranges.map(inClass).join('')}]`;
    if (isAny(ranges)) return 'char';
    const escapes = SPECIAL.filter((each) => ranges.some(({ min, max }) => min <= each && each <= max));
    const plain = ranges.flatMap(plainPart);
    const ways = [
      ...(plain.length > 0 ? [`[${plain.map(inClass).join('')}]`] : []),
      ...escapes.map((each) => literal(escaped(each))),
    ].join(' | ');
    return ways.length <= LONGEST_INLINE && escapes.length === 0 ? ways : this.#book.rule(ways);
  }
}

/** UTF-16 units of a character class that is not worth a rule. */
const LONGEST_INLINE = 60;
/** Code points that JSON escapes in a string. */
const SPECIAL = [...Array.from({ length: 32 }, (_, i) => i), 0x22, 0x5c];

/** A string begins with the first quote. */
function placeAfter([first]: readonly Range[], place: Place): Place {
  return first?.min === 0x22 ? 'string' : place;
}

/** The states that follow one, each with the characters that lead to it. */
function waysFrom(state: State): [State, Range[]][] {
  const ways = new Map<State, Range[]>();
  for (const [range, target] of state.out) ways.set(target, [...(ways.get(target) ?? []), range]);
  return [...ways].map(([target, ranges]) => [target, adjoined(ranges)]);
}

function adjoined(ranges: readonly Range[]): Range[] {
  const joined: { min: number; max: number }[] = [];
  for (const { min, max } of ranges) {
    const last = joined.at(-1);
    if (last?.max === min - 1) last.max = max;
    else joined.push({ min, max });
  }
  return joined;
}

/** All characters but surrogates, which no text contains. */
function isAny(ranges: readonly Range[]): boolean {
  const [first, last, more] = ranges;
  return (
    first?.min === 0 && first.max === 0xd7_ff && last?.min === 0xe0_00 && last.max === 0x10_ff_ff && !more
  );
}

/** The parts of a range between the characters that are escaped. */
function plainPart({ min, max }: Range): Range[] {
  const parts = [[0x20, 0x21], [0x23, 0x5b], [0x5d, 0x10_ff_ff]] as const; // prettier-ignore
  return parts
    .map(([from, to]) => ({ min: Math.max(min, from), max: Math.min(max, to) }))
    .filter((part) => part.min <= part.max);
}

function inClass({ min, max }: Range): string {
  return min === max ? escapedInClass(min) : `${escapedInClass(min)}-${escapedInClass(max)}`;
}

function escapedInClass(character: number): string {
  const text = String.fromCodePoint(character);
  return /[A-Za-z0-9]/.test(text) ? text : `\\U${character.toString(16).padStart(8, '0')}`;
}

/** A character as JSON.stringify writes it within a string. */
function escaped(character: number): string {
  return JSON.stringify(String.fromCodePoint(character)).slice(1, -1);
}

/** A text as a GBNF literal. */
export function literal(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The same for equal languages. */
function signature({ initial, finals }: Language): string {
  const numbers = new Map<State, number>([[initial, 0]]);
  const lines: string[] = [];
  for (const state of numbers.keys()) {
    const ways = waysFrom(state).map(([target, ranges]) => {
      numbers.set(target, numbers.get(target) ?? numbers.size);
      return `${ranges.map(({ min, max }) => `${min}-${max}`).join()}>${numbers.get(target)}`;
    });
    lines.push(`${finals.has(state as DFA.Node) ? '!' : ''}${ways.join(' ')}`);
  }
  return lines.join('\n');
}
