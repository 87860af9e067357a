import { KvasirError } from '../../src-shared/errors.ts';

/** A JSON schema from a client. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** Rules that every grammar may use. White space and unnamed keys are short: a small model would write nothing else. */
const COMMON = String.raw`
blank ::= " "?
value ::= object | array | string | number | boolean | null
object ::= "{" blank (pair ("," blank pair)*)? "}" blank
pair ::= key ":" blank value
key ::= "\"" rest "\"" blank
array ::= "[" blank (value ("," blank value)*)? "]" blank
string ::= "\"" char* "\"" blank
plain ::= [^"\\\x7F\x00-\x1F]
rest ::= plain{0,63}
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
integer ::= "-"? ("0" | [1-9] [0-9]{0,15}) blank
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})? blank
boolean ::= ("true" | "false") blank
null ::= "null" blank
`;

/** Annotations for people only. */
const REMARKS = ['title', 'description', 'default', 'examples', '$schema', '$id', '$comment', 'deprecated'];

/** The keywords allowed for each type of value, besides the type. */
const KEYWORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['object', ['properties', 'required', 'additionalProperties']],
  ['array', ['items', 'minItems', 'maxItems']],
  ['string', ['minLength', 'maxLength']],
  ['number', []],
  ['integer', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  ['boolean', []],
  ['null', []],
]);

/** libllama unrolls repetitions: limits for one, and for all in a schema. */
const MOST_REPEATED = 1000;
const MOST_UNROLLED = 20_000;
const MOST_RULES = 5000;
/** UTF-16 units of the path of a schema part. */
const LONGEST_PATH = 4096;

/** A grammar for any JSON object. */
export const ANY_OBJECT = `root ::= object\n${COMMON}`;

/**
 * A GBNF grammar for the values that a JSON schema allows. Properties come in the schema's order; additional ones only if the schema asks
 * for them. BAD_ARGUMENT names the unsupported keyword and its path.
 */
export function jsonGrammar(schema: JsonSchema): string {
  return new Grammar(schema).text();
}

class Grammar {
  readonly #root: JsonSchema;
  readonly #rules = new Map<string, string>();
  /** Rule names by $ref. */
  readonly #references = new Map<string, string>();
  /** References followed so far without emitting anything. */
  #following: readonly string[] = [];
  #unrolled = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  text(): string {
    const body = this.#within(['#'], () => this.#of(this.#root, '#'));
    const rules = [...this.#rules].map(([name, rule]) => `${name} ::= ${rule}`);
    return [`root ::= ${body}`, ...rules, COMMON].join('\n');
  }

  /** The body of a rule for a schema. `at`: its path. */
  #of(schema: unknown, at: string): string {
    if (at.length > LONGEST_PATH) throw unsupportedSchema('#', 'is nested too deeply');
    if (schema === true) return 'value';
    if (!isObject(schema)) throw unsupportedSchema(at, 'allows no value, or is not a schema');
    if ('$ref' in schema) return this.#reference(schema, at);
    if ('const' in schema) return this.#literals([schema['const']], schema, 'const', at);
    if ('enum' in schema) return this.#literals(listOf(schema['enum'], `${at}/enum`), schema, 'enum', at);
    if ('anyOf' in schema) return this.#anyOf(schema, at);
    const types = 'type' in schema ? listOf([schema['type']].flat(), `${at}/type`) : typesMeant(schema);
    if (types.length === 0) {
      requireOnly(schema, [], at);
      return 'value';
    }
    const allowed = types.flatMap((type) => KEYWORDS.get(String(type)) ?? []);
    requireOnly(schema, ['type', ...allowed], at);
    return alternatives(types.map((type) => this.#typed(type, schema, at)));
  }

  #typed(type: unknown, schema: Record<string, unknown>, at: string): string {
    if (type === 'object') return this.#within([], () => this.#object(schema, at));
    if (type === 'array') return this.#within([], () => this.#array(schema, at));
    if (type === 'string') return this.#string(schema, at);
    if (type === 'integer') return this.#integer(schema, at);
    if (typeof type === 'string' && KEYWORDS.has(type)) return type;
    throw unsupportedSchema(`${at}/type`, `is not a supported type: ${JSON.stringify(type)}`);
  }

  #object(
    { properties = {}, required = [], additionalProperties }: Record<string, unknown>,
    at: string,
  ): string {
    if (!isObject(properties)) throw unsupportedSchema(`${at}/properties`, 'is not an object');
    const names = Object.keys(properties);
    const needed = new Set(listOf(required, `${at}/required`));
    for (const name of needed)
      if (!names.includes(String(name)))
        throw unsupportedSchema(
          `${at}/required`,
          `requires ${JSON.stringify(name)}, which is not a property`,
        );
    // Additional properties are always optional; a schema without properties allows anything.
    const others = additionalProperties ?? names.length === 0;
    const other =
      others === false
        ? undefined
        : this.#pair(this.#otherKey(names), this.#of(others, `${at}/additionalProperties`));
    const pairs = names.map((name) => ({
      pair: this.#pair(
        `${quoted(JSON.stringify(name))} blank`,
        this.#of(properties[name], `${at}/properties/${name}`),
      ),
      needed: needed.has(name),
    }));
    return `"{" blank ${this.#pairs(pairs, other)} "}" blank`;
  }

  /** Pairs in their order; optional ones may be omitted, and each but the first follows a comma. */
  #pairs(pairs: readonly { pair: string; needed: boolean }[], other: string | undefined): string {
    let [first, next] =
      other === undefined ? ['', ''] : [`(${other} ("," blank ${other})*)?`, `("," blank ${other})*`];
    for (const { pair, needed } of pairs.toReversed()) {
      const behind = this.#rule(next);
      const later = this.#rule(first);
      first = needed ? `${pair} ${behind}` : `(${pair} ${behind} | ${later})`;
      next = needed ? `"," blank ${pair} ${behind}` : `("," blank ${pair})? ${behind}`;
    }
    return first;
  }

  #pair(key: string, value: string): string {
    return this.#rule(`${key} ":" blank ${value}`);
  }

  #array({ items = true, minItems = 0, maxItems }: Record<string, unknown>, at: string): string {
    const item = this.#rule(this.#of(items, `${at}/items`));
    const [least, most] = [
      countOf(minItems, `${at}/minItems`),
      maxItems === undefined ? undefined : countOf(maxItems, `${at}/maxItems`),
    ];
    this.#times(least, most, at);
    if (most === 0) return '"[" blank "]" blank';
    const more = `("," blank ${item}){${Math.max(0, least - 1)},${most === undefined ? '' : most - 1}}`;
    const list = `${item} ${more}`;
    return `"[" blank ${least === 0 ? `(${list})?` : list} "]" blank`;
  }

  #string({ minLength = 0, maxLength }: Record<string, unknown>, at: string): string {
    const least = countOf(minLength, `${at}/minLength`);
    if (least === 0 && maxLength === undefined) return 'string';
    const most = maxLength === undefined ? undefined : countOf(maxLength, `${at}/maxLength`);
    return `"\\"" char${this.#times(least, most, at)} "\\"" blank`;
  }

  #integer(schema: Record<string, unknown>, at: string): string {
    const bound = (keyword: string, step: number): number[] => {
      const value = schema[keyword];
      if (value === undefined) return [];
      if (typeof value !== 'number') throw unsupportedSchema(`${at}/${keyword}`, 'is not a number');
      return [step > 0 ? Math.floor(value) + 1 : step < 0 ? Math.ceil(value) - 1 : value];
    };
    const lower = [...bound('minimum', 0), ...bound('exclusiveMinimum', 1)];
    const upper = [...bound('maximum', 0), ...bound('exclusiveMaximum', -1)];
    if (lower.length + upper.length === 0) return 'integer';
    const least = Math.max(-Number.MAX_SAFE_INTEGER, Math.ceil(Math.max(...lower)));
    const most = Math.min(Number.MAX_SAFE_INTEGER, Math.floor(Math.min(...upper)));
    if (least > most) throw unsupportedSchema(at, 'allows no value: its minimum is above its maximum');
    return `${integersBetween(least, most)} blank`;
  }

  /** A key other than these names. Only names without escapes are distinguished, so the key contains none. */
  #otherKey(names: readonly string[]): string {
    if (names.length === 0) return 'key';
    const quotable = names.filter((name) => JSON.stringify(name) === `"${name}"`);
    return `"\\"" ${this.#noneOf(quotable)} "\\"" blank`;
  }

  /** Characters that form none of these texts, distinguished character by character. */
  #noneOf(texts: readonly string[]): string {
    const longer = texts.filter((text) => text !== '');
    const heads = [...new Set(longer.map((text) => String.fromCodePoint(text.codePointAt(0) ?? 0)))];
    const ways = heads.map((head) => {
      const tails = longer.filter((text) => text.startsWith(head)).map((text) => text.slice(head.length));
      return `${quoted(head)} ${this.#noneOf(tails)}`;
    });
    const differs = `[^"\\\\\\x7F\\x00-\\x1F${heads.map(inClass).join('')}] rest`;
    const rule = `(${[...ways, differs].join(' | ')})`;
    return this.#rule(texts.includes('') ? rule : `${rule}?`);
  }

  /** How often something may be repeated. */
  #times(least: number, most: number | undefined, at: string): string {
    if (most !== undefined && least > most)
      throw unsupportedSchema(at, 'allows no value: its minimum length is above its maximum');
    this.#unrolled += most ?? least;
    if (this.#unrolled > MOST_UNROLLED) throw unsupportedSchema('#', 'is too large');
    return `{${least},${most ?? ''}}`;
  }

  #anyOf(schema: Record<string, unknown>, at: string): string {
    requireOnly(schema, ['anyOf', ...DEFINITIONS], at);
    const ways = listOf(schema['anyOf'], `${at}/anyOf`);
    return alternatives(ways.map((way, i) => this.#of(way, `${at}/anyOf/${i}`)));
  }

  #literals(
    values: readonly unknown[],
    schema: Record<string, unknown>,
    keyword: string,
    at: string,
  ): string {
    requireOnly(schema, [keyword, 'type', ...DEFINITIONS], at);
    return `${alternatives(values.map((value) => quoted(JSON.stringify(value))))} blank`;
  }

  #reference(schema: Record<string, unknown>, at: string): string {
    requireOnly(schema, ['$ref', ...DEFINITIONS], at);
    const reference = String(schema['$ref']);
    if (this.#following.includes(reference)) throw unsupportedSchema(`${at}/$ref`, 'refers to itself');
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const target = resolve(this.#root, reference);
    if (target === undefined)
      throw unsupportedSchema(`${at}/$ref`, `was not found in the schema: ${reference}`);
    const name = `ref-${this.#references.size}`;
    this.#references.set(reference, name); // before anything that may lead back to it
    const body = this.#within([...this.#following, reference], () => this.#of(target, reference));
    this.#rules.set(name, body);
    return name;
  }

  /** A left-recursive grammar cannot be parsed. */
  #within(following: readonly string[], make: () => string): string {
    const before = this.#following;
    this.#following = following;
    try {
      return make();
    } finally {
      this.#following = before;
    }
  }

  /** The name of the rule with this body. */
  #rule(body: string): string {
    if (this.#rules.size >= MOST_RULES) throw unsupportedSchema('#', 'is too large');
    const name = `part-${this.#rules.size}`;
    this.#rules.set(name, body === '' ? '""' : body);
    return name;
  }
}

const DEFINITIONS = ['$defs', 'definitions'];

/** Integers from `least` to `most`, both safe integers. */
function integersBetween(least: number, most: number): string {
  const ways: string[] = [];
  if (least < 0) ways.push(`"-" (${digitsBetween(Math.max(1, -most), -least)})`);
  if (most >= 0) ways.push(digitsBetween(Math.max(0, least), most));
  return `(${ways.join(' | ')})`;
}

/** Unsigned numbers by their count of digits. */
function digitsBetween(least: number, most: number): string {
  const ways: string[] = [];
  for (let count = String(least).length; count <= String(most).length; count++) {
    const first = Math.max(least, count === 1 ? 0 : 10 ** (count - 1));
    ways.push(sameLength(String(first), String(Math.min(most, 10 ** count - 1))));
  }
  return ways.join(' | ');
}

/** Digit strings from `first` to `last`, which have the same length. */
function sameLength(first: string, last: string): string {
  if (first === '') return '""';
  const [from, to] = [Number(first[0]), Number(last[0])];
  const [low, high] = [first.slice(1), last.slice(1)];
  if (from === to) return `"${from}" (${sameLength(low, high)})`;
  const ways: string[] = [];
  const isAll = (digits: string, digit: string): boolean => digits === digit.repeat(digits.length);
  const start = isAll(low, '0') ? from : from + 1;
  const end = isAll(high, '9') ? to : to - 1;
  if (start > from) ways.push(`"${from}" (${sameLength(low, '9'.repeat(low.length))})`);
  if (start <= end) ways.push(`[${start}-${end}]${low === '' ? '' : ` [0-9]{${low.length}}`}`);
  if (end < to) ways.push(`"${to}" (${sameLength('0'.repeat(high.length), high)})`);
  return ways.join(' | ');
}

/** A character as written in a GBNF character class. */
function inClass(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}

/** Types of a schema without a type, inferred from its keywords. */
function typesMeant(schema: Record<string, unknown>): string[] {
  const meant = [...KEYWORDS].filter(([, keywords]) => keywords.some((keyword) => keyword in schema));
  return meant.map(([type]) => type);
}

function requireOnly(schema: Record<string, unknown>, keywords: readonly string[], at: string): void {
  const known = [...keywords, ...REMARKS, ...DEFINITIONS];
  const other = Object.keys(schema).find((keyword) => !known.includes(keyword));
  if (other !== undefined) throw unsupportedSchema(`${at}/${other}`, 'is not supported');
}

function resolve(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const path = reference.slice(1).split('/').slice(1);
  return path.reduce<unknown>((schema, step) => {
    const key = decoded(step)?.replaceAll('~1', '/').replaceAll('~0', '~');
    return key !== undefined && isObject(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined;
  }, root);
}

/** A segment of a JSON pointer; undefined when invalid. */
function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step);
  } catch {
    return undefined;
  }
}

function alternatives(ways: readonly string[]): string {
  return ways.length === 1 ? (ways[0] ?? '') : `(${ways.join(' | ')})`;
}

/** A text as a GBNF literal. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function listOf(value: unknown, at: string): unknown[] {
  if (Array.isArray(value) && (value.length > 0 || at.endsWith('/required'))) return value;
  throw unsupportedSchema(at, 'is not a list, or is empty');
}

function countOf(value: unknown, at: string): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_REPEATED) return Number(value);
  throw unsupportedSchema(at, `is not an integer from 0 to ${MOST_REPEATED}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unsupportedSchema(at: string, why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `Unsupported JSON schema: ${at} ${why}.`);
}
