import { FORMATS } from './formats.ts';
import type { Language, Languages } from './languages.ts';
import { atLeast, DECIMAL, digitsOf, EXACT, INTEGER, NUMBER } from './numbers.ts';
import {
  leastOf,
  mostOf,
  heldAt,
  isObject,
  listOf,
  unsupportedSchema,
  type Part,
  type PartList,
  type Parts,
} from './part.ts';

/** Without surrogates: alone, they are no text. */
export const ANY_STRING = String.raw`"[^\ud800-\udfff]*`;

/** By type: a regular expression of its values, each as JSON text; a string without escapes and without its last quote. */
const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['null', 'null'],
  ['boolean', 'true|false'],
  ['number', NUMBER],
  ['integer', INTEGER],
  ['string', ANY_STRING],
  ['array', '[]'],
  ['object', '[]'],
]);
const ANY = `null|true|false|${NUMBER}|${ANY_STRING}`;

/** Which null, booleans, numbers and strings a schema allows: all as one language. */
export class Scalars {
  readonly languages: Languages;
  readonly #parts: PartList;
  readonly #known = new Map<Part, Language>();
  /** Parts whose languages are being made: a reference to one of them has no meaning. */
  readonly #open = new Set<Part>();

  constructor(parts: PartList, languages: Languages) {
    this.#parts = parts;
    this.languages = languages;
  }

  of(parts: Parts): Language {
    let held: Language | undefined;
    for (const part of parts) held = this.#both(held, this.#part(part), part.at);
    return held ?? this.languages.matching(ANY);
  }

  isEmpty(parts: Parts): boolean {
    const [one, other, ...more] = parts;
    if (!one || !other || more.length > 0) return this.of(parts).isEmpty;
    return this.languages.areDisjoint(this.#part(one), this.#part(other));
  }

  #part(part: Part): Language {
    const known = this.#known.get(part);
    if (known) return known;
    this.#open.add(part);
    const made = this.#make(part);
    this.#open.delete(part);
    this.#known.set(part, made);
    return made;
  }

  #make(part: Part): Language {
    const { schema, at } = part;
    if (typeof schema === 'boolean') return schema ? this.languages.matching(ANY) : this.languages.none;
    let held = 'type' in schema ? this.#types(schema, at) : undefined;
    for (const [keyword, value] of Object.entries(schema)) {
      if (held?.isEmpty) return held;
      const allowed = heldAt(`${at}/${keyword}`, () => this.#keyword(part, keyword, value));
      if (allowed) held = this.#both(held, allowed, `${at}/${keyword}`);
    }
    return this.#withLength(part, schema, held ?? this.languages.matching(ANY));
  }

  /** The scalars that a keyword allows; undefined: all of them. */
  #keyword(part: Part, keyword: string, value: unknown): Language | undefined {
    const at = `${part.at}/${keyword}`;
    switch (keyword) {
      case 'const':
        return this.#words([value]);
      case 'enum':
        return this.#words(listOf(value, at));
      case '$ref':
        return this.#reference(part);
      case 'allOf':
        return this.of(this.#parts.listed(part, keyword, value));
      case 'anyOf':
        return this.languages.either(
          this.#parts.listed(part, keyword, value).map((each) => this.#part(each)),
        );
      case 'oneOf':
        return this.#oneOf(this.#parts.listed(part, keyword, value).map((each) => this.#part(each)));
      case 'not':
        return this.languages.without(this.languages.matching(ANY), this.#part(this.#parts.of(value, at)));
      case 'pattern':
        return this.#strings(part, this.#quoted(this.languages.containing(textOf(value, at))));
      case 'format':
        return this.#format(value, part);
      case 'minimum':
        return this.#numbers(part, this.#above(boundOf(value, at), false));
      case 'exclusiveMinimum':
        return this.#numbers(part, this.#exact(this.#above(boundOf(value, at), true)));
      case 'maximum':
        return this.#numbers(part, this.#decimalsWithout(this.#above(boundOf(value, at), true)));
      case 'exclusiveMaximum':
        return this.#numbers(
          part,
          this.#exact(this.#decimalsWithout(this.#above(boundOf(value, at), false))),
        );
      case 'multipleOf':
        return this.#numbers(part, this.#multiples(boundOf(value, at), at));
      default:
        return undefined;
    }
  }

  #both(one: Language | undefined, other: Language, at: string): Language {
    if (one === undefined) return other;
    return heldAt(at, () => this.languages.both(one, other));
  }

  #types(schema: Record<string, unknown>, at: string): Language {
    const types = listOf([schema['type']].flat(), `${at}/type`);
    const patterns = (schema['nullable'] === true ? [...types, 'null'] : types).map((type) => {
      const pattern = TYPES.get(type);
      if (pattern === undefined)
        throw unsupportedSchema(`${at}/type`, `is not a supported type: ${JSON.stringify(type)}`);
      return pattern;
    });
    return heldAt(`${at}/type`, () => this.languages.matching(patterns.join('|')));
  }

  #words(values: readonly unknown[]): Language {
    const scalars = values.filter((value) => value === null || typeof value !== 'object');
    return this.languages.words(
      scalars.map((value) => (typeof value === 'string' ? `"${value}` : JSON.stringify(value))),
    );
  }

  #reference(part: Part): Language {
    const target = this.#parts.target(part);
    if (this.#open.has(target)) throw unsupportedSchema(`${part.at}/$ref`, 'refers to itself');
    return this.#part(target);
  }

  #oneOf(ways: readonly Language[]): Language {
    const { languages } = this;
    let [once, before] = [languages.none, languages.none];
    for (const way of ways) {
      if (way.isEmpty) continue;
      once = languages.either([languages.without(once, way), languages.without(way, before)]);
      before = languages.either([before, way]);
    }
    return once;
  }

  /** Other values than strings are allowed too, if the type does. */
  #strings(part: Part, strings: Language): Language {
    if (hasType(part, ['string'])) return strings;
    return this.languages.either([this.languages.matching(`null|true|false|${NUMBER}`), strings]);
  }

  #quoted(language: Language): Language {
    return this.languages.both(this.languages.matching(ANY_STRING), this.languages.after('"', language));
  }

  /** Counting takes a state for each character, so it is left out where all texts have a length that is allowed. */
  #withLength(part: Part, { minLength, maxLength }: Record<string, unknown>, held: Language): Language {
    if (held.isEmpty || (minLength === undefined && maxLength === undefined)) return held;
    const least = leastOf(minLength, `${part.at}/minLength`);
    const most = mostOf(maxLength, `${part.at}/maxLength`) ?? Infinity;
    const [shortest, longest] = this.languages.lengths(held);
    const quote = 1;
    if (hasType(part, ['string']) && shortest >= least + quote && longest <= most + quote) return held;
    const counted =
      least > most
        ? this.languages.none
        : this.languages.matching(`${ANY_STRING.slice(0, -1)}{${least},${most === Infinity ? '' : most}}`);
    return this.#both(
      held,
      this.#strings(part, counted),
      `${part.at}/${maxLength === undefined ? 'minLength' : 'maxLength'}`,
    );
  }

  #format(value: unknown, part: Part): Language | undefined {
    const { schema, at } = part;
    const pattern = FORMATS.get(String(value));
    if (pattern !== undefined) return this.#strings(part, this.#quoted(this.languages.matching(pattern)));
    // Its pattern says the same, as with zod's own formats.
    if (isObject(schema) && 'pattern' in schema) return undefined;
    throw unsupportedSchema(`${at}/format`, `is not a supported format: ${JSON.stringify(value)}`);
  }

  /** Other values than numbers are allowed too, if the type does. */
  #numbers(part: Part, language: Language): Language {
    if (hasType(part, ['number', 'integer'])) return language;
    return this.languages.either([this.languages.matching(`null|true|false|${ANY_STRING}`), language]);
  }

  #above(bound: number, strictly: boolean): Language {
    const { languages } = this;
    const pattern = atLeast(Math.abs(bound), bound < 0 ? !strictly : strictly);
    const outside = pattern === undefined ? languages.none : languages.matching(pattern);
    if (bound < 0) return this.#decimalsWithout(languages.after('-', outside));
    return languages.both(languages.matching(DECIMAL), outside);
  }

  #decimalsWithout(language: Language): Language {
    return this.languages.without(this.languages.matching(DECIMAL), language);
  }

  #exact(language: Language): Language {
    return this.languages.both(language, this.languages.matching(EXACT));
  }

  #multiples(value: number, at: string): Language {
    const { languages } = this;
    const [, fraction] = digitsOf(value);
    const step = Math.round(value * 10 ** fraction.length);
    if (value <= 0 || step > MOST_STEP || fraction.length > MOST_PLACES)
      throw unsupportedSchema(
        at,
        `has other digits than up to ${MOST_PLACES} places, and up to ${MOST_STEP} without the point`,
      );
    const multiples = languages.multiples(step, fraction.length);
    const signed = languages.either([multiples, languages.after('-', multiples)]);
    return languages.both(languages.matching(DECIMAL), signed);
  }
}

/** `multipleOf` takes a state for each remainder, and for each place. */
const MOST_STEP = 1000;
const MOST_PLACES = 6;

function textOf(value: unknown, at: string): string {
  if (typeof value === 'string') return value;
  throw unsupportedSchema(at, 'is not text');
}

/** Whether a schema allows no other scalars than these. */
function hasType({ schema }: Part, types: readonly string[]): boolean {
  return isObject(schema) && schema['nullable'] !== true && types.includes(String(schema['type']));
}

/** Decimals of smaller bounds have more digits than a number that is written. */
const LEAST_BOUND = 1e-15;

function boundOf(value: unknown, at: string): number {
  if (typeof value !== 'number') throw unsupportedSchema(at, 'is not a number');
  if (value !== 0 && Math.abs(value) < LEAST_BOUND) throw unsupportedSchema(at, 'is too close to 0');
  return value;
}
