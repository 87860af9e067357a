import { expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { json } from './json.ts';

function read(text: string): string {
  return (json({ name: 'a.json', bytes: Buffer.from(text) }) as ParsedDocument).text;
}

test('JSON in one line is laid out as JSON.stringify does', () => {
  const value = { a: {}, b: [], c: [[], { d: null, e: [true, 'x, "y": {z}'] }], 'f:': -1.5e-7 };
  expect(read(JSON.stringify(value))).toBe(JSON.stringify(value, null, 1));
  expect(read('7')).toBe('7');
});

test('numbers and doubled names stay as they are written', () => {
  expect(read('{"order":1954120123456789013,"amount":1.10,"limit":1e400,"zero":-0.0,"a":1,"a":2}')).toBe(
    '{\n "order": 1954120123456789013,\n "amount": 1.10,\n "limit": 1e400,\n "zero": -0.0,\n "a": 1,\n "a": 2\n}',
  );
});

test('escaped letters are readable in every layout', () => {
  expect(read('{"b\\u00e5t":"\\u6771\\/x\\n\\ud800"}')).toBe('{\n "båt": "東/x\\n\\ud800"\n}');
  expect(read('{"a":"\\u00e9","n":12345678901234567890}\n{"a":1.10}\n')).toBe(
    '{"a":"é","n":12345678901234567890}\n{"a":1.10}\n',
  );
});

test('what is not JSON is read unchanged; depth has a bound', () => {
  expect(read('{"name":')).toBe('{"name":');
  expect(read('{"a":NaN}')).toBe('{"a":NaN}');
  expect(read('['.repeat(20_000) + ']'.repeat(20_000)).length).toBeLessThan(20_000 * 80);
});
