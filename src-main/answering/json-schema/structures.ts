import {
  isObject,
  joined,
  keyOf,
  listOf,
  unsupportedSchema,
  type Part,
  type PartList,
  type Parts,
} from './part.ts';

export type Kind = 'object' | 'array';

/** Whether no value fits both; or the name of a property that tells them apart where it is present. */
type Disjoint = (one: Parts, other: Parts, kind: Kind) => boolean | string;

const KEYWORDS = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
};
/** Ways in which a structure may be made: combinations multiply. */
const MOST_WAYS = 256;

/**
 * Which objects or arrays a schema allows: in one of several ways, each the parts with `properties` or `items` that all apply to it.
 * No part at all: anything of that kind.
 */
export class Structures {
  readonly #parts: PartList;
  readonly #disjoint: Disjoint;
  readonly #known = new Map<string, readonly Parts[]>();
  readonly #open = new Set<string>();
  /** Parts for the values of `const` and `enum`. */
  readonly #literals = new Map<unknown, Record<string, unknown>>();

  constructor(parts: PartList, disjoint: Disjoint) {
    this.#parts = parts;
    this.#disjoint = disjoint;
  }

  of(parts: Parts, kind: Kind): readonly Parts[] {
    return this.#all(parts, kind, '#');
  }

  #all(parts: readonly Part[], kind: Kind, at: string): readonly Parts[] {
    return parts.reduce<readonly Parts[]>((ways, part) => crossed(ways, this.#part(part, kind), at), [[]]);
  }

  #part(part: Part, kind: Kind): readonly Parts[] {
    const key = `${kind}${part.id}`;
    const known = this.#known.get(key);
    if (known) return known;
    this.#open.add(key);
    const made = this.#make(part, kind);
    this.#open.delete(key);
    this.#known.set(key, made);
    return made;
  }

  #make(part: Part, kind: Kind): readonly Parts[] {
    const { schema, at } = part;
    if (typeof schema === 'boolean') return schema ? [[]] : [];
    if ('type' in schema && ![schema['type']].flat().includes(kind)) return [];
    let ways: readonly Parts[] = KEYWORDS[kind].some((keyword) => keyword in schema) ? [[part]] : [[]];
    // What the other keywords leave no way for need not be told apart.
    const isLast = ([keyword]: [string, unknown]): number => (keyword === 'oneOf' ? 1 : 0);
    for (const [keyword, value] of Object.entries(schema).sort((one, other) => isLast(one) - isLast(other))) {
      if (ways.length === 0) return ways;
      const allowed = this.#keyword(part, kind, keyword, value);
      if (allowed) ways = crossed(ways, allowed, `${at}/${keyword}`);
    }
    const tag = isObject(schema['discriminator']) ? schema['discriminator']['propertyName'] : undefined;
    if (kind === 'object' && typeof tag === 'string') return crossed(ways, [[this.#required(tag, at)]], at);
    return ways;
  }

  /** The ways that a keyword allows; undefined: it does not apply. */
  #keyword(part: Part, kind: Kind, keyword: string, value: unknown): readonly Parts[] | undefined {
    const at = `${part.at}/${keyword}`;
    switch (keyword) {
      case 'const':
        return this.#values([value], kind, at);
      case 'enum':
        return this.#values(listOf(value, at), kind, at);
      case '$ref':
        return this.#reference(part, kind);
      case 'allOf':
        return this.#all(this.#parts.listed(part, keyword, value), kind, at);
      case 'anyOf':
        return general(this.#parts.listed(part, keyword, value).flatMap((each) => this.#part(each, kind)));
      case 'oneOf':
        return this.#oneOf(this.#parts.listed(part, keyword, value), kind, at);
      case 'not':
        return this.#not(this.#part(this.#parts.of(value, at), kind), at);
      default:
        return undefined;
    }
  }

  #reference(part: Part, kind: Kind): readonly Parts[] {
    const target = this.#parts.target(part);
    if (this.#open.has(`${kind}${target.id}`)) throw unsupportedSchema(`${part.at}/$ref`, 'refers to itself');
    return this.#part(target, kind);
  }

  #values(values: readonly unknown[], kind: Kind, at: string): readonly Parts[] {
    return values
      .filter((value) => (kind === 'array' ? Array.isArray(value) : isObject(value)))
      .map((value) => [this.#literal(value, at)]);
  }

  /** A schema for one object or array. */
  #literal(value: unknown, at: string): Part {
    const known = this.#literals.get(value);
    if (known) return this.#parts.of(known, at);
    const made = Array.isArray(value) ? arrayOf(value) : objectOf(value as Record<string, unknown>);
    this.#literals.set(value, made);
    return this.#parts.of(made, at);
  }

  /** What fits one alternative must not fit another. Where a property tells them apart, it is always written. */
  #oneOf(alternatives: readonly Part[], kind: Kind, at: string): readonly Parts[] {
    const ways = alternatives.flatMap((each, branch) =>
      this.#part(each, kind).map((parts) => ({ branch, parts })),
    );
    for (const [i, one] of ways.entries())
      for (const other of ways.slice(i + 1).filter(({ branch }) => branch !== one.branch)) {
        const disjoint = this.#disjoint(one.parts, other.parts, kind);
        if (disjoint === true) continue;
        if (disjoint === false) throw unsupportedSchema(at, 'has alternatives that a value may fit together');
        for (const way of [one, other]) way.parts = joined([...way.parts, this.#required(disjoint, at)]);
      }
    return ways.map(({ parts }) => parts);
  }

  #required(name: string, at: string): Part {
    const key = `${at} ${name}`;
    const schema = this.#literals.get(key) ?? { required: [name] };
    this.#literals.set(key, schema);
    return this.#parts.of(schema, at);
  }

  #not(ways: readonly Parts[], at: string): readonly Parts[] | undefined {
    if (ways.length === 0) return undefined;
    if (ways.some((parts) => parts.length === 0)) return [];
    throw unsupportedSchema(at, 'is supported for whole types and for scalars only');
  }
}

/** Each way of the one with each of the other. */
function crossed(ones: readonly Parts[], others: readonly Parts[], at: string): readonly Parts[] {
  if (ones.length * others.length > MOST_WAYS) throw unsupportedSchema(at, 'has too many combinations');
  return general(ones.flatMap((one) => others.map((other) => joined([...one, ...other]))));
}

/** Without the ways that others include: those of which all parts are among theirs. */
function general(ways: readonly Parts[]): readonly Parts[] {
  const unique = [...new Map(ways.map((parts) => [keyOf(parts), parts])).values()];
  return unique.filter(
    (parts) => !unique.some((other) => other !== parts && other.every((part) => parts.includes(part))),
  );
}

function arrayOf(values: readonly unknown[]): Record<string, unknown> {
  if (values.length === 0) return { maxItems: 0 };
  return { prefixItems: values.map((value) => ({ const: value })), items: false, minItems: values.length };
}

function objectOf(value: Record<string, unknown>): Record<string, unknown> {
  const properties = Object.entries(value).map(([name, each]) => [name, { const: each }]);
  return {
    properties: Object.fromEntries(properties),
    required: Object.keys(value),
    additionalProperties: false,
  };
}
