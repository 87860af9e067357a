/** Tests grammars with the engine, which generates random text that they allow: all of it must match the schema. */
import { Ajv } from 'ajv';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, type Model } from '../engine/engine.ts';
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
  'keys with marks': {
    type: 'object',
    properties: { 'a "b"\\': { type: 'integer' }, ключ: { enum: ['да'] } },
    required: ['a "b"\\', 'ключ'],
    additionalProperties: false,
  },
};

describe('what is written by a grammar', () => {
  test.each(Object.entries(SCHEMAS))('fits its schema: %s', async (_, schema) => {
    const fits = new Ajv({ strict: false }).compile(schema as object);
    const grammar = jsonGrammar(schema);
    let ended = 0;
    for (let seed = 0; seed < 24 && ended < 4; seed++) {
      const value = await written(grammar, seed);
      if (value === undefined) continue;
      ended++;
      expect([value, fits(value)]).toEqual([value, true]);
    }
    expect(ended).toBeGreaterThan(0);
  });

  test('is an object where only that is asked for', async () => {
    const values = [await written(ANY_OBJECT, 1), await written(ANY_OBJECT, 2), await written(ANY_OBJECT, 3)];
    expect(values.some((value) => value !== undefined)).toBe(true);
    for (const value of values) if (value !== undefined) expect(value).toBeTypeOf('object');
  });
});

test('bounds of integers allow each of their numbers and no other', () => {
  for (const [minimum, maximum] of [
    [0, 0],
    [-12, 105],
    [7, 1001],
    [-1000, -99],
    [89, 120],
  ] as const) {
    const [root = ''] = jsonGrammar({ type: 'integer', minimum, maximum }).split('\n');
    const pattern = root
      .replace('root ::= ', '')
      .replace(/ blank$/, '')
      .replaceAll(/[" ]/g, '');
    const allowed = new RegExp(`^(${pattern})$`);
    for (let value = -1200; value <= 1200; value++)
      expect([value, allowed.test(String(value))]).toEqual([value, value >= minimum && value <= maximum]);
  }
});

describe('unsupported schemas are rejected by path', () => {
  test.each([
    [{ type: 'string', pattern: '^a' }, '#/pattern'],
    [{ type: 'number', minimum: 3 }, '#/minimum'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, '#'],
    [{ type: 'integer', exclusiveMinimum: 2, exclusiveMaximum: 3 }, '#'],
    [{ type: 'array', minItems: 5, maxItems: 2 }, '#'],
    [{ type: 'string', minLength: 5, maxLength: 2 }, '#'],
    [{ type: 'array', minItems: 1, maxItems: 0 }, '#'],
    [{ $ref: '#' }, '#/$ref'],
    [{ anyOf: [{ type: 'null' }, { $ref: '#' }] }, '#/anyOf/1/$ref'],
    [{ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }, '#/$defs/a/anyOf/0/$ref'],
    [{ type: 'object', properties: { a: { oneOf: [] } } }, '#/properties/a/oneOf'],
    [{ allOf: [{ type: 'string' }] }, '#/allOf'],
    [{ type: 'array', items: { format: 'date', type: 'string' } }, '#/items/format'],
    [{ type: 'text' }, '#/type'],
    [{ type: 'toString' }, '#/type'],
    [{ type: ['string', 'constructor'] }, '#/type'],
    [{ $ref: '#/$defs/none' }, '#/$ref'],
    [{ $ref: 'http://example.com' }, '#/$ref'],
    [{ $ref: '#/%zz' }, '#/$ref'],
    [{ $ref: '#/toString' }, '#/$ref'],
    [{ type: 'string', maxLength: 1e9 }, '#/maxLength'],
    [{ type: 'object', properties: {}, required: ['a'] }, '#/required'],
    [{ enum: [] }, '#/enum'],
    [false, '#'],
  ])('%j', (schema: JsonSchema, at) => {
    expect(() => jsonGrammar(schema)).toThrow(`${at} `);
  });

  test('what would be unrolled without measure', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string', minLength: 900, maxLength: 1000 }]),
    );
    expect(() => jsonGrammar({ type: 'object', properties })).toThrow('# is too large');
  });

  test('what is nested without end', () => {
    expect(() => jsonGrammar(nested(10_000))).toThrow('# is nested too deeply');
  });
});
