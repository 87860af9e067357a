import { expect, test } from 'vitest';
import { decode, encode, markId, markOf, markText } from './text-units.ts';

const TEXTS = ['', 'Mara Lind', 'Ünïcödé', '挪威的办公室', 'a😀b👩‍👩‍👧', 'tab\tnul\0end\r\n', '\ufeffmark'];

test.each(TEXTS)('%j comes back as it was, whole and id by id', (text) => {
  const ids = encode(text);
  expect(decode(ids)).toBe(text);
  expect([...ids].map((id) => decode([id])).join('')).toBe(text);
});

test('an id is of three bytes at most, or of one character: never more ids than bytes, nor fewer than a third', () => {
  for (const text of TEXTS) {
    const bytes = Buffer.byteLength(text);
    expect(encode(text).length).toBeLessThanOrEqual(bytes);
    expect(encode(text).length).toBeGreaterThanOrEqual(Math.ceil(bytes / 4));
  }
  expect(encode('a'.repeat(300))).toHaveLength(100);
});

test('half a character is replaced, as UTF-8 has none', () => {
  expect(decode(encode('a\ud83d'))).toBe('a\ufffd');
});

test('marks are marks in templates alone: a document that has them stays text', () => {
  const text = `a${markText('end')}${markText('system')}b`;
  expect([...encode(text)].map(markOf)).not.toContain('system');
  expect(decode(encode(text))).toBe(text);
  expect([...encode(text, true)].map(markOf)).toEqual([undefined, 'end', 'system', undefined]);
  expect(decode(encode(text, true))).toBe('ab');
  expect(markOf(markId('think'))).toBe('think');
});
