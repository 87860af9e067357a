/** Seeded JSON: values that a schema describes, and mutations of them. */
import { pick, type Random } from './mutate.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** Of JSON Schema, as zod and OpenAPI write it. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: Json;
  enum?: readonly Json[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  prefixItems?: readonly Schema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
}

interface Making {
  random: Random;
  /** Where references begin. */
  root: unknown;
  /** Texts that mean something to a field of this name. */
  words: Readonly<Record<string, readonly string[]>>;
}

const MOST_DEPTH = 8;
const TEXTS = ['', 'x', 'Weir', 'Who lives in Oslo?', 'Ünï — 𝒙 文', ' ', '1', 'a.txt'];
const NUMBERS = [0, 1, 2, -1, 3, 0.5, 100];
/** A schema without a type, which anything fits. */
const UNTYPED = ['string', 'number', 'boolean', 'null', 'array', 'object'];

/** A value that fits a schema in its form; patterns and the like are not read. `name`: the field's. */
export function fromSchema(schema: Schema | boolean, making: Making, name = '', depth = 0): Json {
  const { random, root } = making;
  if (typeof schema === 'boolean') return odd(random);
  if (schema.$ref !== undefined) return fromSchema(resolved(schema.$ref, root), making, name, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(schema.enum, random);
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return fromSchema(pick(forms, random), making, name, depth);
  if (schema.allOf) {
    const parts = schema.allOf.map((part) => fromSchema(part, making, name, depth));
    return Object.assign({}, ...parts) as JsonObject;
  }
  const types = schema.type ?? (schema.properties ? 'object' : UNTYPED);
  switch (typeof types === 'string' ? types : pick(types, random)) {
    case 'object':
      return objectFrom(schema, making, depth);
    case 'array':
      return arrayFrom(schema, making, name, depth);
    case 'string':
      return pick(making.words[name] ?? TEXTS, random).padEnd(schema.minLength ?? 0, 'x');
    case 'integer':
      return Math.trunc(numberFrom(schema, random));
    case 'number':
      return numberFrom(schema, random);
    case 'boolean':
      return random() < 0.5;
    default:
      return null;
  }
}

function resolved(ref: string, root: unknown): Schema {
  let at = root;
  for (const part of ref.replace(/^#\//, '').split('/')) at = (at as Record<string, unknown>)[part];
  return at as Schema;
}

function objectFrom(schema: Schema, making: Making, depth: number): JsonObject {
  const { properties = {}, required = [], additionalProperties } = schema;
  const share = depth < MOST_DEPTH ? 0.3 : 0;
  const made: [string, Json][] = [];
  for (const [name, field] of Object.entries(properties)) {
    if (!required.includes(name) && making.random() >= share) continue;
    made.push([name, fromSchema(field, making, name, depth + 1)]);
  }
  if (typeof additionalProperties === 'object' && making.random() < share)
    made.push(['x', fromSchema(additionalProperties, making, 'x', depth + 1)]);
  return Object.fromEntries(made);
}

function arrayFrom(schema: Schema, making: Making, name: string, depth: number): Json[] {
  const { prefixItems, items = {}, minItems = 0, maxItems = Infinity } = schema;
  if (prefixItems) return prefixItems.map((item) => fromSchema(item, making, name, depth + 1));
  const wanted = depth < MOST_DEPTH ? 1 + Math.floor(making.random() * 3) : 0;
  const length = Math.max(minItems, Math.min(maxItems, wanted));
  return Array.from({ length }, () => fromSchema(items, making, name, depth + 1));
}

function numberFrom({ minimum = -Infinity, maximum = Infinity }: Schema, random: Random): number {
  const ends = [minimum, maximum].filter((end) => Math.abs(end) < 1e6);
  return Math.max(minimum, Math.min(maximum, pick([...NUMBERS, ...ends], random)));
}

/** What JSON can say and values cannot: written in place of these texts. */
const WRITTEN: Readonly<Record<string, string>> = {
  '§deep': '['.repeat(20_000) + ']'.repeat(20_000),
  '§deeper': `${'{"x":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  '§infinite': '1e400',
  '§twice': '{"x":1,"x":2}',
};

const ODD: readonly Json[] = [
  ...[null, true, false, '', [], {}, 0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 1e308, 5e-324],
  ...['\u0000', '\uD800', '\uDC00x', '\uFEFF', '\u2028', '../../etc/passwd', '/', 'C:\\x', 'con'],
  ...['<|im_end|>', '<|im_start|>system', '{{ 7 * 7 }}', '%s%n', "' OR 1=1 --", 'https://x.invalid/', 'NaN'],
  ...['__proto__', 'constructor', 'toString', 'undefined', 'a'.repeat(70_000), '文'.repeat(9_000)],
  ...Object.keys(WRITTEN),
];
const NAMES = ['__proto__', 'constructor', 'toString', 'length', '', 'x', 'then', '\u0000'];

export function odd(random: Random): Json {
  return structuredClone(pick(ODD, random));
}

/** One to three mutations of a copy. */
export function mutateJson(value: Json, random: Random): Json {
  const holder: Json[] = [structuredClone(value)];
  for (let n = 1 + Math.floor(random() * 3); n > 0; n--) mutateOne(pick(placesIn(holder), random), random);
  return holder[0] ?? null;
}

/** JSON, with what values cannot say. */
export function written(value: Json): string {
  return JSON.stringify(value).replaceAll(/"(§\w+)"/g, (text, name: string) => WRITTEN[name] ?? text);
}

interface Place {
  inside: Json[] | JsonObject;
  key: string;
}

function placesIn(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [
    { inside: value, key },
    ...placesIn((value as JsonObject)[key] ?? null),
  ]);
}

function mutateOne({ inside, key }: Place, random: Random): void {
  const value = (inside as JsonObject)[key] ?? null;
  const put = (name: string, to: Json): void =>
    void Object.defineProperty(inside, name, {
      value: to,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  const mutations: (() => void)[] = [
    () => put(key, odd(random)),
    () => put(key, [value]),
    () => put(key, typeof value === 'string' ? Number(value) || 0 : JSON.stringify(value)),
    () => (Array.isArray(inside) ? inside.push(odd(random)) : put(pick(NAMES, random), odd(random))),
    () => (Array.isArray(inside) && inside.length > 1 ? void inside.splice(Number(key), 1) : put(key, {})),
    () =>
      Array.isArray(value)
        ? put(
            key,
            Array.from({ length: 40 }, (_, i) => value[i % value.length] ?? null),
          )
        : put(key, typeof value === 'string' ? value + value + value : odd(random)),
    () => (Array.isArray(inside) ? put(key, null) : void Reflect.deleteProperty(inside, key)),
  ];
  pick(mutations, random)();
}
