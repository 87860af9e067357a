import { TooManyNodesError } from 'refa';
import { KvasirError } from '../../../src-shared/errors.ts';
import { Unsupported } from './languages.ts';

/** A JSON schema from a client. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** A schema within a client's schema. */
export interface Part {
  readonly id: number;
  /** Its path: a JSON pointer after #. */
  readonly at: string;
  readonly schema: JsonSchema;
}

/** Values must fit all of them: sorted by id, without duplicates and without `true`. */
export type Parts = readonly Part[];

/** Annotations, which restrict nothing. */
const REMARKS = [
  ...['title', 'description', 'default', 'examples', 'example', 'deprecated', 'readOnly', 'writeOnly'],
  ...['$schema', '$comment', '$defs', 'definitions', 'discriminator'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema'],
];
const KEYWORDS = [
  ...['type', 'nullable', 'const', 'enum', '$ref', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['pattern', 'format', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  ...['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
];
/** Keywords that restrict nothing with these values. */
const IDLE: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['uniqueItems', false],
  ['minProperties', 0],
]);
const KNOWN = new Set([...REMARKS, ...KEYWORDS]);
/** UTF-16 units of the path of a part. */
const LONGEST_PATH = 4096;

/** The parts of one schema: one for each schema object. */
export class PartList {
  readonly root: Part;
  readonly #parts = new Map<unknown, Part>();

  constructor(schema: JsonSchema) {
    this.root = this.of(schema, '#');
  }

  of(schema: unknown, at: string): Part {
    if (at.length > LONGEST_PATH) throw unsupportedSchema('#', 'is nested too deeply');
    if (typeof schema !== 'boolean' && !isObject(schema)) throw unsupportedSchema(at, 'is not a schema');
    const known = this.#parts.get(schema === false ? at : schema);
    if (known) return known;
    if (typeof schema === 'object') requireKnown(schema, at);
    const part: Part = { id: this.#parts.size, at, schema };
    this.#parts.set(schema === false ? at : schema, part);
    return part;
  }

  /** The part that a part's `$ref` refers to. */
  target({ schema, at }: Part): Part {
    const reference = String((schema as Record<string, unknown>)['$ref']);
    const target = resolve(this.root.schema, reference);
    if (target === undefined)
      throw unsupportedSchema(`${at}/$ref`, `was not found in the schema: ${reference}`);
    return this.of(target, reference);
  }

  /** The schemas in a list, as in anyOf. */
  listed({ at }: Part, keyword: string, list: unknown): Part[] {
    return listOf(list, `${at}/${keyword}`).map((each, i) => this.of(each, `${at}/${keyword}/${i}`));
  }
}

export function joined(parts: readonly Part[]): Parts {
  const unique = new Map(parts.filter(({ schema }) => schema !== true).map((part) => [part.id, part]));
  return [...unique.values()].sort((one, other) => one.id - other.id);
}

export function keyOf(parts: Parts): string {
  return parts.map(({ id }) => id).join(',');
}

function requireKnown(schema: Record<string, unknown>, at: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const known = KNOWN.has(keyword) || keyword.startsWith('x-') || (keyword === '$id' && at === '#');
    if (!known && IDLE.get(keyword) !== value)
      throw unsupportedSchema(`${at}/${keyword}`, 'is not supported');
  }
}

function resolve(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const [head, ...path] = reference.slice(1).split('/');
  if (head !== '') return undefined;
  return path.reduce<unknown>((schema, step) => {
    const key = decoded(step)?.replaceAll('~1', '/').replaceAll('~0', '~');
    const holds =
      (isObject(schema) || Array.isArray(schema)) && key !== undefined && Object.hasOwn(schema, key);
    return holds ? (schema as Record<string, unknown>)[key] : undefined;
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

export function listOf(value: unknown, at: string): unknown[] {
  if (Array.isArray(value) && (value.length > 0 || at.endsWith('/required'))) return value;
  throw unsupportedSchema(at, 'is not a list, or is empty');
}

/** libllama unrolls repetitions: the limit of one. Nothing longer is written, even if the schema allows it. */
const MOST_REPEATED = 1000;

/** A minimal length; 0 without one. */
export function leastOf(value: unknown, at: string): number {
  const least = countOf(value ?? 0, at);
  if (least > MOST_REPEATED) throw unsupportedSchema(at, `is above ${MOST_REPEATED}`);
  return least;
}

export function mostOf(value: unknown, at: string): number | undefined {
  return value === undefined ? undefined : Math.min(MOST_REPEATED, countOf(value, at));
}

function countOf(value: unknown, at: string): number {
  if (Number.isInteger(value) && Number(value) >= 0) return Number(value);
  throw unsupportedSchema(at, 'is not an integer of 0 or above');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function unsupportedSchema(at: string, why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `Unsupported JSON schema: ${at} ${why}.`);
}

/** Runs `make`; what cannot be held is reported with the path of its keyword. A RangeError is a full stack. */
export function heldAt<T>(at: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof Unsupported) throw unsupportedSchema(at, error.message);
    if (error instanceof TooManyNodesError) throw unsupportedSchema(at, 'makes the schema too large');
    if (error instanceof RangeError) throw unsupportedSchema(at, 'is nested too deeply');
    throw error;
  }
}
