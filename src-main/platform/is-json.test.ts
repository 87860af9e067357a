import { expect, test } from 'vitest';
import { beginsJson, isJson } from './is-json.ts';

const WHOLE = '{"a": [1, -2.5e3, "x\\n", null], "b": {"c": true}}';

test('every beginning of a JSON value is one', () => {
  for (let length = 0; length <= WHOLE.length; length++) {
    expect(beginsJson(WHOLE.slice(0, length)), WHOLE.slice(0, length)).toBe(true);
    expect(isJson(WHOLE.slice(0, length))).toBe(length === WHOLE.length);
  }
});

test.each([
  'The answer is 4.',
  'no, it is not',
  'true story',
  '12 people',
  '12 nu',
  'T',
  '{"a": 1} is it',
  '{a: 1',
  '[1 2',
])('no JSON value begins with %s', (text) => expect(beginsJson(text)).toBe(false));
