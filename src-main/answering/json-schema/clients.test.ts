/** Schemas as zod and pydantic write them: what the grammar allows, they take back. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Gbnf } from '../../testing/gbnf.ts';
import { randomFrom } from '../../testing/random.ts';
import { jsonGrammar, type JsonSchema } from '../json-grammar.ts';

const TREE = z.object({
  value: z.int(),
  get kids() {
    return z.array(TREE);
  },
});
const SHAPE = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
  z.object({ kind: z.literal('box'), sides: z.tuple([z.number(), z.number()]) }),
]);

/** Each with a value as JSON.stringify writes it, and one that does not fit. */
const TYPES: Record<string, [type: z.ZodType, fits: unknown, not: unknown]> = {
  uuid: [z.uuid(), '123e4567-e89b-42d3-a456-426614174000', '123e4567-e89b-92d3-a456-42661417400'],
  guid: [z.guid(), '123e4567-e89b-02d3-0456-426614174000', 'x'],
  email: [z.email(), 'mara.lind@mail.example.com', 'mara@example'],
  date: [z.iso.date(), '2024-02-29', '2023-02-29'],
  'date and time': [z.iso.datetime(), '2024-02-29T23:59:59.5Z', '2024-02-29T24:00:00Z'],
  'date and time with an offset': [
    z.iso.datetime({ offset: true }),
    '2024-02-29T23:59:59+02:00',
    '2024-02-29',
  ],
  time: [z.iso.time(), '09:30:00', '24:00'],
  duration: [z.iso.duration(), 'P3DT4H5M', 'P'],
  url: [z.url(), 'https://example.com/a/b?c=d#e', 'example'],
  ipv4: [z.ipv4(), '192.168.0.1', '256.0.0.1'],
  ipv6: [z.ipv6(), '2001:db8::7', '1::2::3'],
  base64: [z.base64(), 'aGVq', 'a'],
  ulid: [z.ulid(), '01ARZ3NDEKTSV4RRFFQ69G5FAV', '1'],
  'a pattern': [z.string().regex(/^[A-Z]{3}-\d+$/), 'ABC-12', 'AB-12'],
  'a beginning': [z.string().startsWith('a"b'), 'a"bc', 'ab'],
  'a template': [z.templateLiteral(['v', z.number()]), 'v1.5', '1.5'],
  lengths: [z.string().min(2).max(3), '語語', '語'],
  integer: [z.int(), 9007199254740991, 1.5],
  'small integer': [z.int32(), -2147483648, 2147483648],
  'bounded number': [z.number().positive().max(2.5), 2.5, 2.51],
  multiple: [z.number().multipleOf(0.05), 0.15, 0.17],
  record: [z.record(z.string(), z.number()), { a: 1, b: 2.5 }, { a: '1' }],
  'record of an enum': [z.record(z.enum(['a', 'b']), z.int()), { a: 1, b: 2 }, { a: 1 }],
  'record by a pattern': [z.record(z.string().regex(/^x-/), z.int()), { 'x-a': 1 }, { a: 1 }],
  tuple: [z.tuple([z.string(), z.int()]), ['a', 1], ['a', 1, 2]],
  'tuple with more': [z.tuple([z.string()]).rest(z.int()), ['a', 1, 2], ['a', 'b']],
  list: [z.array(z.boolean()).min(1).max(3), [true, false], []],
  'discriminated union': [SHAPE, { kind: 'box', sides: [1, 2] }, { kind: 'box', radius: 1 }],
  union: [z.union([z.string(), z.int(), z.null()]), null, true],
  literals: [z.literal(['on', 1, true]), 1, 'off'],
  nullable: [z.object({ a: z.string().nullable() }), { a: null }, { a: 1 }],
  optional: [z.object({ a: z.int().optional(), b: z.int() }), { b: 1 }, { a: 1 }],
  intersection: [
    z.intersection(z.object({ a: z.int() }), z.object({ b: z.int() })),
    { a: 1, b: 2 },
    { a: 1 },
  ],
  loose: [z.looseObject({ a: z.int() }), { a: 1, b: 'c' }, { a: 'b' }],
  recursion: [TREE, { value: 1, kids: [{ value: 2, kids: [] }] }, { value: 1, kids: [{}] }],
  json: [z.object({ any: z.json() }), { any: { a: [1, { b: null }] } }, {}],
};

test.each(Object.entries(TYPES))('zod: %s', (_, [type, fits, not]) => {
  for (const target of ['draft-2020-12', 'draft-7'] as const) {
    const grammar = new Gbnf(jsonGrammar(z.toJSONSchema(type, { target }) as JsonSchema));
    expect([fits, not].map((value) => grammar.allows(JSON.stringify(value)))).toEqual([true, false]);
    const chance = randomFrom(1);
    for (let i = 0; i < 20; i++) {
      const value: unknown = JSON.parse(grammar.random(chance, 40));
      expect([value, type.safeParse(value).success]).toEqual([value, true]);
    }
  }
});

/** pydantic 2.14's schema of a model with these fields. */
const PYDANTIC = {
  $defs: {
    Cat: { type: 'object', title: 'Cat', properties: { kind: { const: 'cat', title: 'Kind', type: 'string' }, lives: { maximum: 9, minimum: 1, title: 'Lives', type: 'integer' } }, required: ['kind', 'lives'] }, // prettier-ignore
    Dog: { type: 'object', title: 'Dog', properties: { kind: { const: 'dog', default: 'dog', title: 'Kind', type: 'string' }, name: { maxLength: 12, minLength: 1, pattern: '^[A-Z][a-z]+$', title: 'Name', type: 'string' } }, required: ['name'] }, // prettier-ignore
    Color: { enum: ['red', 'blue'], title: 'Color', type: 'string' },
    Node: { type: 'object', title: 'Node', properties: { value: { title: 'Value', type: 'integer' }, children: { default: [], items: { $ref: '#/$defs/Node' }, title: 'Children', type: 'array' } }, required: ['value'] }, // prettier-ignore
  },
  type: 'object',
  title: 'Order',
  properties: {
    pet: { discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' }, oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }], title: 'Pet' }, // prettier-ignore
    when: { format: 'date-time', title: 'When', type: 'string' },
    id: { format: 'uuid', title: 'Id', type: 'string' },
    mail: { format: 'email', title: 'Mail', type: 'string' },
    url: { format: 'uri', maxLength: 2083, minLength: 1, title: 'Url', type: 'string' },
    price: { anyOf: [{ type: 'number' }, { pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$', type: 'string' }], title: 'Price' }, // prettier-ignore
    ratio: { exclusiveMaximum: 1, exclusiveMinimum: 0, title: 'Ratio', type: 'number' },
    step: { multipleOf: 0.5, title: 'Step', type: 'number' },
    color: { $ref: '#/$defs/Color' },
    pair: { maxItems: 2, minItems: 2, prefixItems: [{ type: 'integer' }, { type: 'string' }], title: 'Pair', type: 'array' }, // prettier-ignore
    counts: { additionalProperties: { type: 'integer' }, title: 'Counts', type: 'object' },
    by: { additionalProperties: { type: 'number' }, propertyNames: { enum: ['x', 'y'] }, title: 'By', type: 'object' }, // prettier-ignore
    maybe: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null, title: 'Maybe' },
    root: { $ref: '#/$defs/Node' },
    raw: { format: 'binary', title: 'Raw', type: 'string' },
  },
  required: ['pet', 'when', 'id', 'mail', 'url', 'price', 'ratio', 'step', 'color', 'pair', 'counts', 'by', 'root', 'raw'], // prettier-ignore
};

test('pydantic', () => {
  const grammar = new Gbnf(jsonGrammar(PYDANTIC));
  const fits = new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(PYDANTIC);
  const chance = randomFrom(1);
  for (let i = 0; i < 20; i++) {
    const value = JSON.parse(grammar.random(chance, 400)) as { pet: object };
    expect([value, fits(value)]).toEqual([value, true]);
    // Without it pydantic cannot tell which of the models is meant, though its schema has it optional.
    expect(value.pet).toHaveProperty('kind');
  }
});
