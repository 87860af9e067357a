import type { DFA } from 'refa';
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

  #written(language: Language): string {
    const names = new Map<string, string>();
    const numbers = numbered(language);
    const entries = entriesOf(numbers);
    const open: [name: string, state: State, place: Place][] = [];
    const isFinal = (state: State): boolean => language.finals.has(state as DFA.Node);
    const named = (state: State, place: Place): string => {
      const key = `${place}${numbers.get(state)}`;
      const name = names.get(key) ?? this.#book.reserve();
      if (!names.has(key)) open.push([name, state, place]);
      names.set(key, name);
      return name;
    };
    /** A state with one way in and one out needs no rule. */
    const from = (start: State, begun: Place): string => {
      let [state, place, text] = [start, begun, ''];
      for (;;) {
        const [way, ...others] = waysFrom(state);
        if (!way) return `${text}${place === 'string' ? QUOTE : ''}`;
        if (isFinal(state) && way[0] === state && others.length === 0 && place === 'string' && isAny(way[1]))
          return `${text}char* ${QUOTE}`;
        if (isFinal(state) || others.length > 0 || entries.get(state) !== 1)
          return `${text}${named(state, place)}`;
        text += `${this.#characters(way[1], place)} `;
        [state, place] = [way[0], placeAfter(way[1], place)];
      }
    };
    const first = from(language.initial, 'bare');
    for (let each = open.pop(); each; each = open.pop()) {
      const [name, state, place] = each;
      const ways = waysFrom(state).map(
        ([target, ranges]) => `${this.#characters(ranges, place)} ${from(target, placeAfter(ranges, place))}`,
      );
      if (isFinal(state)) ways.push(place === 'string' ? QUOTE : '""');
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

export function literal(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The states of a language, each with its place in an order that is the same for equal languages. */
function numbered({ initial }: Language): ReadonlyMap<State, number> {
  const numbers = new Map<State, number>([[initial, 0]]);
  for (const state of numbers.keys())
    for (const [target] of waysFrom(state)) numbers.set(target, numbers.get(target) ?? numbers.size);
  return numbers;
}

/** How many states lead to each; the first is entered at the start too. */
function entriesOf(numbers: ReadonlyMap<State, number>): ReadonlyMap<State, number> {
  const entries = new Map<State, number>();
  for (const [state, number] of numbers) {
    if (number === 0) entries.set(state, (entries.get(state) ?? 0) + 1);
    for (const [target] of waysFrom(state)) entries.set(target, (entries.get(target) ?? 0) + 1);
  }
  return entries;
}

/** The same for equal languages. */
function signature(language: Language): string {
  const numbers = numbered(language);
  const lines = Array.from(numbers.keys(), (state) => {
    const ways = waysFrom(state).map(
      ([target, ranges]) => `${ranges.map(({ min, max }) => `${min}-${max}`).join()}>${numbers.get(target)}`,
    );
    return `${language.finals.has(state as DFA.Node) ? '!' : ''}${ways.join(' ')}`;
  });
  return lines.join('\n');
}
