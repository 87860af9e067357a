import { expect, test } from 'vitest';
import { decodeText } from './decode.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

test('line ends become \\n and a byte-order mark goes', () => {
  expect(decodeText(bytes([0xef, 0xbb, 0xbf], 'a\r\nb\rc\n'), 'x.txt')).toBe('a\nb\nc\n');
});

test.each([
  ['a stray continuation byte', bytes('abc', [0x80], 'def'), 3],
  ['a cut character at the end', bytes('abcé', [0xc3]), 5],
  ['Latin-1', bytes('caf', [0xe9], ' au lait'), 3],
  ['a true replacement character before the fault', bytes('\uFFFDab', [0xff]), 5],
  ['a byte-order mark before the fault', bytes([0xef, 0xbb, 0xbf], 'a', [0xff]), 4],
  ['an encoded surrogate', bytes('ab', [0xed, 0xa0, 0x80]), 2],
])('%s is refused with its place', (_, broken, at) => {
  expect(() => decodeText(broken, 'notes/x.txt')).toThrow(
    expect.objectContaining({
      code: 'DOCUMENT_ENCODING',
      message: expect.stringMatching(`^notes/x.txt .*byte ${at} `) as string,
    }),
  );
});
