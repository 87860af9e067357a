import { leastOf, mostOf, isObject, listOf, unsupportedSchema, type Part } from './part.ts';

/** What one schema says of objects. */
export interface ObjectFacets {
  readonly at: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: ReadonlySet<string>;
  readonly patterns: readonly { pattern: string; schema: unknown; at: string }[];
  /** undefined: nothing is said of them. */
  readonly additional: unknown;
  readonly propertyNames: unknown;
}

/** What one schema says of arrays. */
interface ArrayFacets {
  readonly at: string;
  readonly first: readonly unknown[];
  /** Of the items after `first`; undefined: nothing is said of them. */
  readonly rest: unknown;
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export function objectFacets({ schema, at }: Part): ObjectFacets {
  const { required = [], additionalProperties, propertyNames, ...others } = schema as Record<string, unknown>;
  const names = listOf(required, `${at}/required`);
  const unnamed = names.find((name) => typeof name !== 'string');
  if (unnamed !== undefined) throw unsupportedSchema(`${at}/required`, 'is not a list of names');
  const patterns = schemasIn(others, 'patternProperties', at);
  return {
    at,
    properties: schemasIn(others, 'properties', at),
    required: new Set(names.map(String)),
    patterns: Object.entries(patterns).map(([pattern, each]) => ({
      pattern,
      schema: each,
      at: `${at}/patternProperties/${pattern}`,
    })),
    additional: additionalProperties,
    propertyNames,
  };
}

function schemasIn(schema: Record<string, unknown>, keyword: string, at: string): Record<string, unknown> {
  const schemas = schema[keyword] ?? {};
  if (isObject(schemas)) return schemas;
  throw unsupportedSchema(`${at}/${keyword}`, 'is not an object');
}

/** Tuples are written as `prefixItems`, and until 2019 as a list in `items`. */
export function arrayFacets({ schema, at }: Part): ArrayFacets {
  const { items, prefixItems, additionalItems, minItems, maxItems } = schema as Record<string, unknown>;
  const old = Array.isArray(items);
  return {
    at,
    first: old ? items : prefixItems === undefined ? [] : listOf(prefixItems, `${at}/prefixItems`),
    rest: old ? additionalItems : items,
    least: minItems === undefined ? undefined : leastOf(minItems, `${at}/minItems`),
    most: mostOf(maxItems, `${at}/maxItems`),
  };
}
