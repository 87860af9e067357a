import { CharSet, DFA, isDisjointWith, JS, NFA } from 'refa';

/** A set of texts, as a minimal automaton over code points. */
export type Language = DFA;

type Alternative = JS.RegexppAst['pattern']['alternatives'][number];
type Element = Alternative['elements'][number];

const ANY_TEXT = { maxCharacter: 0x10_ff_ff };
const LONGEST_PATTERN = 2000;
/** States of automata and comparisons for one schema: bounds the time and memory that it can take. */
const MOST_STEPS = 50_000;
/** Milliseconds: some steps take long, as states that many characters lead to. */
const LONGEST = 3000;

/** A part of a schema that cannot be held. */
export class Unsupported extends Error {}

/** Makes languages, with a limit for all of one schema. */
export class Languages {
  #steps = 0;
  readonly #deadline = performance.now() + LONGEST;
  readonly #nfa = { createNode: () => this.#counted(NFA.nodeFactory.createNode()) };
  readonly #dfa = { createNode: () => this.#counted(DFA.nodeFactory.createNode()) };
  readonly #matches = new Map<string, Language>();
  readonly #searches = new Map<string, Language>();

  readonly none = DFA.empty(ANY_TEXT);
  readonly all = DFA.all(ANY_TEXT);
  readonly #end = DFA.emptyWord(ANY_TEXT);

  /** Counts a step of work on the schema. Throws Unsupported above the limit. */
  step(): void {
    if (++this.#steps > MOST_STEPS || performance.now() > this.#deadline)
      throw new Unsupported('makes the schema too large');
  }

  #counted<Node>(node: Node): Node {
    this.step();
    return node;
  }

  words(texts: readonly string[]): Language {
    const words = DFA.fromWords(texts.map(charactersOf), ANY_TEXT, this.#dfa);
    words.minimize();
    return words;
  }

  /**
   * The digits, with at most `places` after a point, of multiples of `step` / 10 ** `places`. A state for each remainder, before the point
   * and after each digit behind it.
   */
  multiples(step: number, places: number): Language {
    const builder = new DFA.Builder(this.#dfa);
    const rows = Array.from({ length: places + 2 }, () =>
      Array.from({ length: step }, () => builder.createNode()),
    );
    const link = (from: DFA.Node, to: DFA.Node | undefined, character: string): void => {
      const code = character.codePointAt(0) ?? 0;
      if (to) builder.linkNodes(from, to, CharSet.fromCharacter(ANY_TEXT.maxCharacter, code));
    };
    for (const [row, nodes] of rows.entries())
      for (const [remainder, node] of nodes.entries()) {
        const next = rows[row === 0 ? 0 : row + 1];
        for (let digit = 0; digit < 10; digit++)
          link(node, next?.[(remainder * 10 + digit) % step], String(digit));
        if (row === 0) link(node, rows[1]?.[remainder], '.');
        const missing = places - Math.max(0, row - 1);
        if ((remainder * 10 ** missing) % step === 0) builder.makeFinal(node);
      }
    for (let digit = 0; digit < 10; digit++) link(builder.initial, rows[0]?.[digit % step], String(digit));
    return this.#minimal(DFA.fromBuilder(builder, ANY_TEXT));
  }

  /** The least and the most characters of a language's texts. */
  lengths({ initial, finals, isFinite }: Language): [least: number, most: number] {
    const lengths: number[] = [];
    let states = new Set([initial]);
    for (let length = 0; states.size > 0 && (isFinite || lengths.length === 0); length++) {
      if ([...states].some((state) => finals.has(state))) lengths.push(length);
      states = new Set([...states].flatMap(({ out }) => [...out.values()]));
    }
    return [lengths[0] ?? 0, isFinite ? (lengths.at(-1) ?? 0) : Infinity];
  }

  /** The texts of a language, each after a character. */
  after(character: string, language: Language): Language {
    const texts = NFA.fromWords([charactersOf(character)], ANY_TEXT, this.#nfa);
    texts.append(language, this.#nfa);
    return this.#minimal(texts);
  }

  either(languages: readonly Language[]): Language {
    const [first, ...more] = languages.filter((language) => !language.isEmpty);
    if (first === undefined) return this.none;
    if (more.length === 0) return first;
    const union = NFA.fromFA(first, this.#nfa);
    for (const language of more) union.union(language, this.#nfa);
    return this.#minimal(union);
  }

  both(one: Language, other: Language): Language {
    if (one === other) return one;
    const both = DFA.fromIntersection(one, other, this.#dfa);
    both.minimize();
    return both;
  }

  areDisjoint(one: Language, other: Language): boolean {
    return isDisjointWith(one, other, MOST_STEPS);
  }

  without(one: Language, other: Language): Language {
    if (other.isEmpty) return one;
    const outside = other.copy(this.#dfa);
    outside.complement(this.#dfa);
    return this.both(one, outside);
  }

  /** The texts that a regular expression matches from their start to their end. */
  matching(pattern: string): Language {
    return known(this.#matches, pattern, () => this.#whole(pattern));
  }

  /** The texts in which a regular expression finds a match, as JSON schema means patterns. */
  containing(pattern: string): Language {
    return known(this.#searches, pattern, () => {
      const parser = parserOf(pattern);
      return this.#search(parser, parser.ast.pattern.alternatives, this.all);
    });
  }

  #whole(pattern: string): Language {
    const parser = parserOf(pattern);
    return this.#alternatives(parser, parser.ast.pattern.alternatives, this.#end, true);
  }

  /** A match of an alternative anywhere, then a text of `rest`. */
  #search(parser: JS.Parser, alternatives: readonly Alternative[], rest: Language): Language {
    const found = alternatives.map(({ elements }) => {
      const [first, ...more] = elements;
      if (first?.type === 'Assertion' && first.kind === 'start')
        return this.#sequence(parser, more, rest, true);
      if (first !== undefined && isGroup(first) && asserts(first))
        return this.#search(parser, first.alternatives, this.#sequence(parser, more, rest, false));
      const anywhere = NFA.all(ANY_TEXT, this.#nfa);
      anywhere.append(this.#sequence(parser, elements, rest, false), this.#nfa);
      return this.#minimal(anywhere);
    });
    return this.either(found);
  }

  /** An alternative, then a text of `rest`. `starts`: at the start of the text. */
  #alternatives(
    parser: JS.Parser,
    alternatives: readonly Alternative[],
    rest: Language,
    starts: boolean,
  ): Language {
    return this.either(alternatives.map(({ elements }) => this.#sequence(parser, elements, rest, starts)));
  }

  /** Elements, then a text of `rest`, to which the assertions among them apply too. */
  #sequence(parser: JS.Parser, elements: readonly Element[], rest: Language, starts: boolean): Language {
    const at = elements.findIndex(asserts);
    const element = elements[at];
    const plain = NFA.emptyWord(ANY_TEXT, this.#nfa);
    for (const each of element ? elements.slice(0, at) : elements) {
      plain.append(NFA.fromRegex(expressionOf(parser, each), ANY_TEXT, {}, this.#nfa), this.#nfa);
    }
    const begins = starts && at === 0;
    const tail = (): Language =>
      this.#sequence(parser, elements.slice(at + 1), rest, begins && element?.type === 'Assertion');
    plain.append(element ? this.#asserting(parser, element, tail(), begins) : rest, this.#nfa);
    return this.#minimal(plain);
  }

  /** An element with assertions in it, then a text of `rest`. */
  #asserting(parser: JS.Parser, element: Element, rest: Language, starts: boolean): Language {
    if (isGroup(element)) return this.#alternatives(parser, element.alternatives, rest, starts);
    if (element.type === 'Quantifier' && element.max === 1) {
      const once = this.#sequence(parser, [element.element], rest, starts);
      return element.min === 0 ? this.either([once, rest]) : once;
    }
    if (element.type === 'Assertion') {
      if (element.kind === 'start' && starts) return rest;
      if (element.kind === 'end') return this.both(rest, this.#end);
      if (element.kind === 'lookahead') {
        const ahead = this.#alternatives(parser, element.alternatives, this.all, starts);
        return element.negate ? this.without(rest, ahead) : this.both(rest, ahead);
      }
    }
    throw new Unsupported(`has a part that a grammar cannot hold: ${element.raw}`);
  }

  #minimal(automaton: NFA | DFA): Language {
    const minimal = automaton instanceof DFA ? automaton : DFA.fromFA(automaton, this.#dfa);
    minimal.minimize();
    return minimal;
  }
}

/** Code points. */
export function charactersOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

/** Escapes of characters that need none are errors in a Unicode pattern, though other languages take them. */
function parserOf(pattern: string): JS.Parser {
  if (pattern.length > LONGEST_PATTERN) throw new Unsupported(`is longer than ${LONGEST_PATTERN} characters`);
  const source = pattern.replaceAll(/\\(.)/gsu, (escape, character: string) =>
    /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character)
      ? escape
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  try {
    return JS.Parser.fromLiteral({ source, flags: 'u' });
  } catch {
    throw new Unsupported('is not a regular expression');
  }
}

function expressionOf(parser: JS.Parser, element: Element): JS.ParseResult['expression'] {
  try {
    return parser.parseElement(element, { assertions: 'throw' }).expression;
  } catch {
    throw new Unsupported(`has a part that a grammar cannot hold: ${element.raw}`);
  }
}

function asserts(element: Element): boolean {
  if (element.type === 'Assertion') return true;
  if (element.type === 'Quantifier') return asserts(element.element);
  return isGroup(element) && element.alternatives.some(({ elements }) => elements.some(asserts));
}

function isGroup(element: Element): element is Extract<Element, { type: 'Group' | 'CapturingGroup' }> {
  return element.type === 'Group' || element.type === 'CapturingGroup';
}

function known(cache: Map<string, Language>, key: string, make: () => Language): Language {
  const before = cache.get(key);
  if (before) return before;
  const made = make();
  cache.set(key, made);
  return made;
}
