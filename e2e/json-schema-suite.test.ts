/** The required tests of JSON-Schema-Test-Suite, which `npm run models` downloads: what is valid can be written, and nothing else. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { published, SCHEMA_SUITE } from '../tools/models/files.ts';
import { Gbnf } from '../src-main/testing/gbnf.ts';
import { randomFrom } from '../src-main/testing/random.ts';
import { jsonGrammar, type JsonSchema } from '../src-main/answering/json-grammar.ts';

interface Group {
  description: string;
  schema: JsonSchema;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const SUITE = published(SCHEMA_SUITE);
const FORMATS = ['date', 'time', 'date-time', 'duration', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6', 'uri'];
/** A format is no annotation here, and neither is a vocabulary optional. */
const OTHERWISE = ['format.json', 'vocabulary.json'];
const REFUSED =
  /\/(dependentRequired|dependentSchemas|unevaluatedItems|unevaluatedProperties|contains|minContains|maxContains|minProperties|maxProperties|uniqueItems|if|then|else|\$dynamicRef|\$dynamicAnchor|\$anchor|\$id|not|oneOf|multipleOf|enum) |\$ref was not found|allows no value/;

const files = SUITE
  ? readdirSync(SUITE).filter((name) => name.endsWith('.json') && !OTHERWISE.includes(name))
  : [];

function groupsOf(file: string): Group[] {
  return JSON.parse(readFileSync(join(SUITE ?? '', file), 'utf8')) as Group[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** With a word on further properties and items, which are not written without one. */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (!isObject(schema)) return schema;
  const open: Record<string, unknown> = {};
  if ('properties' in schema || 'patternProperties' in schema) open['additionalProperties'] = true;
  if ('prefixItems' in schema) Object.assign(open, { items: true, minItems: 0 });
  for (const [keyword, value] of Object.entries(schema)) {
    const named = ['properties', 'patternProperties', '$defs'].includes(keyword) && isObject(value);
    if (named)
      open[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, opened(each)]));
    else open[keyword] = ['const', 'enum', 'default'].includes(keyword) ? value : opened(value);
  }
  return open;
}

function namesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesIn);
  if (!isObject(schema)) return [];
  const { properties, required, const: constant } = schema;
  return [
    ...[properties, constant].flatMap((each) => (isObject(each) ? Object.keys(each) : [])),
    ...(Array.isArray(required) ? required.map(String) : []),
    ...Object.values(schema).flatMap(namesIn),
  ];
}

/** With named properties first, in the schema's order. */
function ordered(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => ordered(each, names));
  if (!isObject(value)) return value;
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : Infinity);
  const keys = Object.keys(value).sort((one, other) =>
    place(one) === place(other) ? 0 : place(one) - place(other),
  );
  return Object.fromEntries(keys.map((key) => [key, ordered(value[key], names)]));
}

/** undefined: refused, which is right if nothing is valid. */
function grammarOf(group: Group): Gbnf | undefined {
  try {
    return new Gbnf(jsonGrammar(opened(group.schema) as JsonSchema));
  } catch (error) {
    expect(String(error)).toMatch(REFUSED);
    if (String(error).endsWith('allows no value.'))
      expect(group.tests.filter(({ valid }) => valid)).toEqual([]);
    return undefined;
  }
}

function wrongIn(group: Group, grammar: Gbnf): string[] {
  const names = namesIn(group.schema);
  return group.tests.flatMap(({ description, data, valid }) => {
    const text = JSON.stringify(ordered(data, names));
    return grammar.allows(text) === valid ? [] : [`${group.description}: ${description}: ${text}`];
  });
}

describe.runIf(SUITE !== undefined)('JSON-Schema-Test-Suite', () => {
  test.each(files)('%s', (file) => {
    for (const group of groupsOf(file)) {
      const grammar = grammarOf(group);
      if (grammar) expect(wrongIn(group, grammar)).toEqual([]);
    }
  });

  test.each(files)('%s: what is written is valid', (file) => {
    const ajv = new Ajv2020({
      strict: false,
      logger: false,
      validateFormats: false,
      multipleOfPrecision: 6,
      ownProperties: true,
    });
    for (const group of groupsOf(file)) {
      const grammar = grammarOf(group);
      if (!grammar) continue;
      const fits = ajv.compile(group.schema as object);
      const chance = randomFrom(1);
      for (let i = 0; i < 10; i++) {
        const value: unknown = JSON.parse(grammar.random(chance, 24));
        expect([group.description, value, fits(value)]).toEqual([group.description, value, true]);
      }
    }
  });

  test.each(FORMATS)('the format %s allows nothing that is invalid', (format) => {
    for (const group of groupsOf(join('optional', 'format', `${format}.json`))) {
      const grammar = new Gbnf(jsonGrammar(group.schema));
      const allowed = group.tests.filter(({ data }) => grammar.allows(JSON.stringify(data)));
      expect(allowed.filter(({ valid }) => !valid)).toEqual([]);
      if (group.tests.some(({ data, valid }) => valid && typeof data === 'string'))
        expect(allowed.filter(({ data }) => typeof data === 'string').length).toBeGreaterThan(0);
    }
  });

  test('most groups are supported', () => {
    const groups = files.flatMap(groupsOf);
    expect(groups.length).toBeGreaterThan(300);
  });
});
