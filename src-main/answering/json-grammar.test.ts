/** Tests grammars with the engine, which generates random text that they allow: all of it must match the schema. */
import { Ajv } from 'ajv';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, type Model } from '../engine/engine.ts';
import { Gbnf } from '../testing/gbnf.ts';
import { randomFrom } from '../testing/random.ts';
import { ANY_OBJECT, jsonGrammar, type JsonSchema } from './json-grammar.ts';

const DEMO = join(import.meta.dirname, '..', '..', 'resources', 'models', 'kvasir-demo.gguf');
const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 12 },
    age: { type: 'integer' },
    tags: { type: 'array', items: { enum: ['a "quoted"', 'b\\c', 7, null] }, minItems: 1, maxItems: 3 },
  },
  required: ['name', 'tags'],
  additionalProperties: false,
} as const;

let model: Model;
beforeAll(async () => {
  model = await Engine.open().loadModel(DEMO, { threads: 1, device: 'cpu' });
});
afterAll(() => model.dispose());

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = { type: 'array', items: schema };
  return schema;
}

/** Random text from the model that reaches its end. */
async function written(grammar: string, seed: number): Promise<unknown> {
  const session = model.createSession(512);
  try {
    await session.append([{ kind: 'compute', tokens: model.tokenize('Once', { addBos: true }) }], {
      kind: 'full',
    });
    const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, seed, grammar };
    const { tokens, stop } = await session.generate({ maxTokens: 400, sampling });
    return stop === 'eos' ? JSON.parse(model.detokenize(tokens)) : undefined;
  } finally {
    session.dispose();
  }
}

const SCHEMAS: Record<string, JsonSchema> = {
  person: PERSON,
  'a list of them': { type: 'array', items: PERSON, maxItems: 2 },
  'only what may be left out': {
    type: 'object',
    properties: { a: { type: 'boolean' }, b: { type: 'null' }, c: { const: 'see' } },
    additionalProperties: false,
  },
  'others beside what is named': {
    type: 'object',
    properties: { a: { type: 'boolean' } },
    required: ['a'],
    additionalProperties: { type: 'integer' },
  },
  'one of several': { anyOf: [{ type: 'integer' }, { type: ['boolean', 'null'] }, { const: { a: [1] } }] },
  'a tree': {
    $defs: { node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }, required: ['next'], additionalProperties: false } }, // prettier-ignore
    $ref: '#/$defs/node',
  },
  'a tree from the root, by one of several': {
    anyOf: [{ type: 'null' }, { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'], additionalProperties: false }], // prettier-ignore
  },
  'anything beside what is named': {
    type: 'object',
    properties: { o: { type: 'integer' }, on: { type: 'null' }, '': { type: 'boolean' } },
    additionalProperties: true,
  },
  'integers within bounds': {
    type: 'array',
    items: {
      anyOf: [
        { type: 'integer', minimum: -1, maximum: 1 },
        { type: 'integer', minimum: 95, exclusiveMaximum: 1234 },
        { type: 'integer', exclusiveMinimum: -250.5, maximum: -87 },
        { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'integer', minimum: 7 },
      ],
    },
    minItems: 6,
    maxItems: 12,
  },
  'anything beside integers, with another type never': {
    type: 'object',
    properties: { city: { type: 'integer' } },
    required: ['city'],
    additionalProperties: true,
  },
  'numbers and texts within bounds': {
    type: 'object',
    properties: {
      ratio: { type: 'number', exclusiveMinimum: 0, maximum: 0.25 },
      cents: { type: 'number', multipleOf: 0.25, minimum: -2, exclusiveMaximum: 1e3 },
      code: { type: 'string', pattern: '^[A-Z]{2}-\\d+$', maxLength: 6 },
      smiles: { type: 'string', pattern: '^[\\u{1F600}-\\u{1F64F}"\\\\\\n]{1,3}$' },
    },
    required: ['ratio', 'cents', 'code', 'smiles'],
  },
  'all of several, one of several': {
    allOf: [
      { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] },
      { properties: { a: { maximum: 5 }, b: { type: ['string', 'null'], maxLength: 3 } }, required: ['b'] },
    ],
    oneOf: [
      { properties: { kind: { const: 'x' } }, required: ['kind'] },
      { properties: { kind: { const: 'y' }, more: { type: 'boolean' } }, required: ['kind'] },
    ],
  },
  'keys by patterns': {
    type: 'object',
    patternProperties: { '^n': { type: 'integer' }, s$: { type: ['string', 'integer'], maxLength: 4 } },
    propertyNames: { maxLength: 4 },
    additionalProperties: { type: 'null' },
  },
  'keys with marks': {
    type: 'object',
    properties: { 'a "b"\\': { type: 'integer' }, ключ: { enum: ['да'] } },
    required: ['a "b"\\', 'ключ'],
    additionalProperties: false,
  },
};

describe('what is written by a grammar', () => {
  let ended = 0;

  test.each(Object.entries(SCHEMAS))('fits its schema: %s', async (_, schema) => {
    const ajv = new Ajv({ strict: false, multipleOfPrecision: 6 });
    const fits = ajv.compile(schema as object);
    const grammar = jsonGrammar(schema);
    const [reader, chance] = [new Gbnf(grammar), randomFrom(1)];
    const values = Array.from({ length: 40 }, (): unknown => JSON.parse(reader.random(chance, 60)));
    for (let seed = 0; seed < 4; seed++) {
      const value = await written(grammar, seed);
      if (value === undefined) continue;
      ended++;
      values.push(value);
    }
    for (const value of values) expect([value, fits(value)]).toEqual([value, true]);
  });

  test('and ends', () => {
    expect(ended).toBeGreaterThan(Object.keys(SCHEMAS).length);
  });

  test('is an object where only that is asked for', async () => {
    const values = [await written(ANY_OBJECT, 1), await written(ANY_OBJECT, 2), await written(ANY_OBJECT, 3)];
    expect(values.some((value) => value !== undefined)).toBe(true);
    for (const value of values) if (value !== undefined) expect(value).toBeTypeOf('object');
  });
});

test('bounds allow each of their numbers and no other', () => {
  for (const [minimum, maximum] of [
    [0, 1],
    [-12, 105],
    [7, 1001],
    [-1000, -99],
    [89, 120],
    [-2.5, 0.75],
  ] as const) {
    const integers = new Gbnf(jsonGrammar({ type: 'integer', minimum, maximum: Math.ceil(maximum) }));
    const quarters = new Gbnf(
      jsonGrammar({ minimum, exclusiveMaximum: maximum, multipleOf: 0.25, type: 'number' }),
    );
    for (let value = -1200; value <= 1200; value += 0.25) {
      const inside = value >= minimum && value <= maximum;
      const whole = Number.isInteger(value) && value >= minimum && value <= Math.ceil(maximum);
      expect([value, integers.allows(String(value))]).toEqual([value, whole]);
      expect([value, quarters.allows(String(value))]).toEqual([value, inside && value < maximum]);
    }
  }
});

test('no white space is written', () => {
  const grammar = new Gbnf(jsonGrammar({ type: 'object', properties: { a: {} }, required: ['a'] }));
  expect(grammar.allows('{"a":[1,{"b":"c d"}]}')).toBe(true);
  for (const text of ['{"a": 1}', '{ "a":1}', '{"a":1} ', '{"a":[1, 2]}', '{"a":{"b": 1}}'])
    expect([text, grammar.allows(text)]).toEqual([text, false]);
  expect(new Gbnf(ANY_OBJECT).allows('{"a": 1}')).toBe(false);
});

test('a named property never has another type, however its key is written', () => {
  const properties = { city: { type: 'integer' } };
  const grammar = new Gbnf(jsonGrammar({ type: 'object', properties, additionalProperties: true }));
  for (const text of ['{"city":3}', '{"town":"Paris"}', '{"city":3,"cit":[],"cityy":"x"}'])
    expect([text, grammar.allows(text)]).toEqual([text, true]);
  for (const text of ['{"city":"Paris"}', '{"\\u0063ity":"Paris"}', '{"a":1,"city":"Paris"}'])
    expect([text, grammar.allows(text)]).toEqual([text, false]);
});

describe('without a word on it', () => {
  test('nothing is added to named properties', () => {
    const grammar = new Gbnf(jsonGrammar({ type: 'object', properties: { a: { type: 'null' } } }));
    expect(['{}', '{"a":null}', '{"b":1}'].map((text) => grammar.allows(text))).toEqual([true, true, false]);
  });

  test('nothing is added to a tuple, and it is whole', () => {
    const grammar = new Gbnf(
      jsonGrammar({ prefixItems: [{ type: 'null' }, { type: 'boolean' }], type: 'array' }),
    );
    expect(['[null,true]', '[null]', '[null,true,1]'].map((text) => grammar.allows(text))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

test('where objects may fit several alternatives, what tells them apart is written', () => {
  const tag = (kind: string): JsonSchema => ({ type: 'object', properties: { kind: { const: kind } } });
  const grammar = new Gbnf(jsonGrammar({ oneOf: [tag('a'), tag('b')] }));
  expect(['{"kind":"a"}', '{"kind":"b"}', '{}'].map((text) => grammar.allows(text))).toEqual([
    true,
    true,
    false,
  ]);
});

describe('unsupported schemas are rejected by path', () => {
  const itself = { type: 'array', items: { $ref: '#' } };
  test.each([
    [{ type: 'string', pattern: '\\bx' }, '#/pattern'],
    [{ type: 'string', pattern: '(?<=a)x' }, '#/pattern'],
    [{ type: 'string', pattern: '(' }, '#/pattern'],
    [{ type: 'string', pattern: '(?:a|b)*a(?:a|b){20}' }, '#/pattern'],
    [{ type: 'string', pattern: '(?:a{1000}){1000}' }, '#/pattern'],
    [{ type: 'number', multipleOf: 0.123456789 }, '#/multipleOf'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, '#'],
    [{ type: 'integer', exclusiveMinimum: 2, exclusiveMaximum: 3 }, '#'],
    [{ type: 'array', minItems: 5, maxItems: 2 }, '#'],
    [{ type: 'string', minLength: 5, maxLength: 2 }, '#'],
    [{ type: 'array', minItems: 1, maxItems: 0 }, '#'],
    [{ type: 'object', properties: { a: { type: 'array', minItems: 5, maxItems: 2 } }, required: ['a'] }, '#/properties/a'], // prettier-ignore
    [{ allOf: [{ type: 'string' }, { type: 'null' }] }, '#'],
    [{ $ref: '#' }, '#/$ref'],
    [{ anyOf: [{ type: 'null' }, { $ref: '#' }] }, '#/anyOf/1/$ref'],
    [{ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }, '#/$defs/a/anyOf/0/$ref'],
    [{ type: 'object', properties: { a: { oneOf: [] } } }, '#/properties/a/oneOf'],
    [{ oneOf: [{ type: 'object' }, { required: ['a'] }] }, '#/oneOf'],
    [{ anyOf: [{ ...itself, minItems: 1 }, itself, { ...itself, minItems: 2 }] }, '#'],
    [{ if: { type: 'string' } }, '#/if'],
    [{ type: 'array', uniqueItems: true }, '#/uniqueItems'],
    [{ type: 'array', items: { format: 'iri', type: 'string' } }, '#/items/format'],
    [{ type: 'text' }, '#/type'],
    [{ type: 'toString' }, '#/type'],
    [{ type: ['string', 'constructor'] }, '#/type'],
    [{ $ref: '#/$defs/none' }, '#/$ref'],
    [{ $ref: 'http://example.com' }, '#/$ref'],
    [{ $ref: '#/%zz' }, '#/$ref'],
    [{ $ref: '#/toString' }, '#/$ref'],
    [{ type: 'string', minLength: 1e9 }, '#/minLength'],
    [{ type: 'array', minItems: 1.5 }, '#/minItems'],
    [
      { type: 'object', properties: {}, required: ['a'], additionalProperties: false },
      '#/additionalProperties',
    ],
    [{ enum: [] }, '#/enum'],
    [{ not: { type: 'object', required: ['a'] } }, '#/not'],
    [false, '#'],
  ])('%j', (schema: JsonSchema, at) => {
    expect(() => jsonGrammar(schema)).toThrow(`JSON schema: ${at} `);
  });

  test('what would be unrolled without measure', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string', minLength: i, maxLength: 1000 }]),
    );
    expect(() => jsonGrammar({ type: 'object', properties })).toThrow('makes the schema too large');
  });

  test('alternatives that double with each level', () => {
    const level = (i: number): JsonSchema => {
      const items = { $ref: `#/$defs/${i + 1}` };
      return {
        anyOf: [
          { type: 'array', items },
          { type: 'array', items, minItems: 1, maxItems: i + 2 },
        ],
      };
    };
    const levels = Array.from({ length: 30 }, (_, i) => [i, { allOf: [level(i)], minItems: 1 }] as const);
    const $defs = { ...Object.fromEntries(levels), 30: { type: 'null' } };
    expect(() => jsonGrammar({ $ref: '#/$defs/0', $defs })).toThrow('begin alike');
  });

  test('what is nested without end', () => {
    expect(() => jsonGrammar(nested(10_000))).toThrow('# is nested too deeply');
  });
});

test('a length above the limit is no reason to refuse: what is written is shorter', () => {
  const grammar = new Gbnf(jsonGrammar({ type: 'string', maxLength: 1e9 }));
  expect(['a'.repeat(1000), 'a'.repeat(1001)].map((text) => grammar.allows(`"${text}"`))).toEqual([
    true,
    false,
  ]);
  expect(() => jsonGrammar({ type: 'string', format: 'uri', minLength: 1, maxLength: 2083 })).not.toThrow();
});
