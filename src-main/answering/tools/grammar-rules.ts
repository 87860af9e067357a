import { KvasirError } from '../../../src-shared/errors.ts';
import type { Tool } from '../tools.ts';
import { ANY_OBJECT, jsonGrammar, type JsonSchema } from '../json-grammar.ts';

/** Literals and character classes, which are kept, and names of rules. */
const SYMBOL = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[a-zA-Z][a-zA-Z0-9-]*/g;

/** Rules of a GBNF grammar that is composed of others. */
export class GrammarRules {
  readonly #rules: string[] = [];
  #count = 0;

  /** The grammar, whose root has this body. */
  text(root: string): string {
    return [`root ::= ${root}`, ...this.#rules].join('\n');
  }

  /** Adds a whole grammar; returns the name of its root. */
  add(grammar: string): string {
    const prefix = `g${this.#count++}-`;
    this.#rules.push(
      grammar.replaceAll(SYMBOL, (symbol) => (/^["[]/.test(symbol) ? symbol : prefix + symbol)),
    );
    return `${prefix}root`;
  }

  /** Adds a rule; returns its name. */
  rule(body: string, name = `r${this.#count++}`): string {
    this.#rules.push(`${name} ::= ${body}`);
    return name;
  }

  /**
   * The values of a schema. BAD_ARGUMENT with its path in the tool where a grammar cannot hold it and the tool is strict; otherwise
   * `instead` stands for it.
   */
  json(schema: JsonSchema, { name, strict }: Tool, instead = ANY_OBJECT): string {
    try {
      return this.add(jsonGrammar(schema));
    } catch (error) {
      if (!(error instanceof KvasirError)) throw error;
      if (strict) throw new KvasirError('BAD_ARGUMENT', `The tool ${name}: ${error.message}`, error.advice);
      return this.add(instead);
    }
  }

  /** The values of a parameter of a tool, whose schema may refer to the tool's definitions; `instead` as for `json`. */
  parameter(schema: unknown, tool: Tool, instead: string): string {
    if (typeof schema !== 'object' || schema === null) return this.json(true, tool, instead);
    const { $defs, definitions } = tool.parameters;
    const defined = {
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    };
    return this.json({ ...schema, ...defined }, tool, instead);
  }

  /** The arguments of a tool; one that declares no properties has none. */
  argumentsOf(tool: Tool): string {
    const { properties } = tool.parameters;
    const isEmpty = typeof properties === 'object' && Object.keys(properties ?? {}).length === 0;
    const none = isEmpty && { additionalProperties: false };
    return this.json({ type: 'object', ...none, ...tool.parameters }, tool);
  }

  /** Pairs in their order, separated; those that are not required may be left out. */
  inOrder(pairs: readonly { rule: string; isRequired: boolean }[], separator: string): string {
    const between = quoted(separator);
    let [first, next] = ['""', '""'];
    for (const { rule, isRequired } of pairs.toReversed()) {
      const later = first;
      first = this.rule(isRequired ? `${rule} ${next}` : `(${rule} ${next} | ${later})`);
      next = this.rule(isRequired ? `${between} ${rule} ${next}` : `(${between} ${rule})? ${next}`);
    }
    return first;
  }

  /** Any text without these marks; `bare`: nor with a brace as its first character. */
  until(marks: readonly string[], { bare = false } = {}): string {
    const id = this.#count++;
    // The states of a search for the marks: how much of one the text ends with.
    const states = [...new Set(marks.flatMap((mark) => mark.split('').map((_, i) => mark.slice(0, i))))];
    const nameOf = (state: string): string => `u${id}-${states.indexOf(state)}`;
    const longestIn = (text: string): string =>
      states.reduce((best, each) => (text.endsWith(each) && each.length > best.length ? each : best), '');
    const letters = [...new Set(marks.join(''))];
    for (const state of states) {
      const telling = letters.filter((letter) => {
        const next = state + letter;
        return longestIn(next) !== '' || marks.some((mark) => next.endsWith(mark));
      });
      const ways = telling
        .filter((letter) => !marks.some((mark) => (state + letter).endsWith(mark)))
        .map((letter) => `${quoted(letter)} ${nameOf(longestIn(state + letter))}`);
      const other = `[^${telling.map(escaped).join('')}] ${nameOf('')}`;
      this.rule(`(${[...ways, other].join(' | ')})?`, nameOf(state));
    }
    if (!bare) return nameOf('');
    const first = letters.filter((letter) => states.includes(letter));
    const ways = first.map((letter) => `${quoted(letter)} ${nameOf(letter)}`);
    const other = `[^{ \\n${first.map(escaped).join('')}] ${nameOf('')}`;
    return this.rule(`[ \\n]* (${[...ways, other].join(' | ')})?`);
  }
}

/** A text as a GBNF literal; '' for none. */
export function quoted(text: string): string {
  return text === '' ? '' : `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** A character in a class. */
function escaped(letter: string): string {
  return letter === '\n' ? '\\n' : letter.replace(/[\]\\^-]/, '\\$&');
}
