import { heldAt, keyOf, unsupportedSchema, type JsonSchema, type Parts } from './json-schema/part.ts';
import { Shapes, type ArrayShape, type ObjectShape } from './json-schema/shapes.ts';
import { literal, TextRules, type RuleBook } from './json-schema/text-rules.ts';
import { Weights } from './json-schema/weights.ts';

export type { JsonSchema };

/** Rules that every grammar may use. No white space: a small model would write nothing else. Unnamed keys are short for the same reason. */
const COMMON = String.raw`
value ::= object | array | string | number | boolean | null
object ::= "{" (pair ("," pair)*)? "}"
pair ::= key ":" value
key ::= "\"" char{0,63} "\""
array ::= "[" (value ("," value)*)? "]"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] hex hex hex | [dD] [0-7] hex hex))
hex ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
`;

/** libllama unrolls repetitions: the limit for rules and repetitions of a schema together. */
const MOST_RULES = 20_000;

/** JSON that an answer must be: a model here follows the grammar, a server is sent the schema. */
export interface JsonFormat {
  grammar: string;
  /** Absent: any object. */
  schema?: JsonSchema | undefined;
}

export const ANY_OBJECT = `root ::= object\n${COMMON}`;

/**
 * A GBNF grammar for the values that a JSON schema allows, as JSON.stringify writes them. Properties come in the schema's order; additional
 * ones only if the schema asks for them. BAD_ARGUMENT names what is unsupported by its path and keyword.
 */
export function jsonGrammar(schema: JsonSchema): string {
  return heldAt('#', () => new Grammar(schema).text());
}

class Grammar implements RuleBook {
  readonly #shapes: Shapes;
  readonly #texts = new TextRules(this);
  readonly #weights: Weights;
  readonly #rules = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, string>();
  #size = 0;

  constructor(schema: JsonSchema) {
    this.#shapes = new Shapes(schema);
    this.#weights = new Weights(this.#shapes);
  }

  text(): string {
    const { root } = this.#shapes;
    if (this.#shapes.isEmpty(root)) throw unsupportedSchema(this.#shapes.reason(root), 'allows no value');
    const body = this.#value(root);
    this.#weights.check();
    const rules = [...this.#rules].map(([name, rule]) => `${name} ::= ${rule}`);
    return [`root ::= ${body}`, ...rules, COMMON].join('\n');
  }

  reserve(): string {
    this.#grow(1);
    return `part-${this.#size}`;
  }

  define(name: string, body: string): void {
    this.#rules.set(name, body);
  }

  rule(body: string): string {
    if (body === '') return '';
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.reserve();
    this.#names.set(body, name);
    this.define(name, body);
    return name;
  }

  #grow(by: number): void {
    this.#size += by;
    if (this.#size > MOST_RULES) throw unsupportedSchema('#', 'is too large');
  }

  /** The rule for values that fit all these parts. */
  #value(parts: Parts): string {
    if (parts.length === 0) return 'value';
    const key = keyOf(parts);
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const name = this.reserve();
    this.#values.set(key, name);
    const scalars = this.#shapes.scalars(parts);
    const ways = [
      ...(scalars.isEmpty ? [] : [this.#texts.of(scalars)]),
      ...this.#shapes.arrays(parts).map((shape) => this.#array(shape)),
      ...this.#shapes.objects(parts).map((shape) => this.#object(shape)),
    ];
    if (ways.length === 0) throw unsupportedSchema(this.#shapes.reason(parts), 'allows no value');
    this.#weights.add(parts);
    this.define(name, ways.join(' | '));
    return name;
  }

  #object({ named, others }: ObjectShape): string {
    const other = others.map(({ keys, values }) => this.#pair(this.#texts.of(keys), values)).join(' | ');
    const pairs = named
      .filter(({ values }) => !this.#shapes.isEmpty(values))
      .map(({ name, values, needed }) => ({
        pair: this.#pair(literal(JSON.stringify(name)), values),
        needed,
      }));
    return `"{" ${this.#pairs(pairs, this.rule(other))} "}"`;
  }

  /** Pairs in their order; optional ones may be omitted, and each but the first follows a comma. */
  #pairs(pairs: readonly { pair: string; needed: boolean }[], other: string): string {
    let [first, next] = other === '' ? ['', ''] : [`(${other} ("," ${other})*)?`, `("," ${other})*`];
    for (const { pair, needed } of pairs.toReversed()) {
      const after = this.rule(next);
      const later = this.rule(first);
      first = needed ? `${pair} ${after}` : `(${pair} ${after} | ${later === '' ? '""' : later})`;
      next = needed ? `"," ${pair} ${after}` : `("," ${pair})? ${after}`;
    }
    return first;
  }

  #pair(key: string, values: Parts): string {
    return this.rule(`${key} ":" ${this.#value(values)}`);
  }

  #array({ first, rest, least, most }: ArrayShape): string {
    let items =
      first.length < (most ?? Infinity)
        ? this.#repeated(
            rest,
            least - first.length,
            most === undefined ? undefined : most - first.length,
            first.length > 0,
          )
        : '';
    for (const [i, values] of [...first.entries()].toReversed()) {
      if (i >= (most ?? Infinity)) continue;
      const item = `${i > 0 ? '"," ' : ''}${this.#value(values)} ${this.rule(items)}`;
      items = i < least ? item : `(${item})?`;
    }
    return `"[" ${items} "]"`;
  }

  /** Items, the first of them after a comma too where others precede it. */
  #repeated(values: Parts, least: number, most: number | undefined, follows: boolean): string {
    const item = this.#value(values);
    const from = Math.max(0, follows ? least : least - 1);
    const to = most === undefined ? undefined : follows ? most : most - 1;
    this.#grow(to ?? from);
    const more = `("," ${item}){${from},${to ?? ''}}`;
    if (follows) return more;
    return least > 0 ? `${item} ${more}` : `(${item} ${more})?`;
  }
}
