import { expect, test } from 'vitest';
import { linesOf, readQuestions } from './question-lines.ts';

const file = (bytes: Uint8Array<ArrayBuffer>) => ({
  size: bytes.length,
  arrayBuffer: () => Promise.resolve(bytes.buffer),
});

test('empty lines and the marks of a list are left out, words and numbers stay', () => {
  expect(linesOf(' Who?\r\n\r\n- Where?\n2) When?\n10. Why?\n1994 was what?\n-5 degrees: where?')).toEqual([
    ...['Who?', 'Where?', 'When?', 'Why?', '1994 was what?', '-5 degrees: where?'],
  ]);
});

test('a file that is no text is refused', async () => {
  expect(await readQuestions(file(new TextEncoder().encode('Wer?\nWo?')))).toEqual(['Wer?', 'Wo?']);
  expect(await readQuestions(file(Uint8Array.of(0x89, 0x50, 0xff)))).toBeUndefined();
  expect(await readQuestions(file(Uint8Array.of(0x41, 0, 0x42)))).toBeUndefined();
});
