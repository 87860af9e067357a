import { describe, expect, test } from 'vitest';
import { StopTexts } from './stop-texts.ts';

/** The text emitted from pieces up to the end, and the stop text. */
function passed(stops: string[], pieces: string[]): [text: string, stoppedBy: string | undefined] {
  const stream = new StopTexts(stops);
  let text = '';
  for (const piece of pieces) {
    const out = stream.push(piece);
    text += out.text;
    if (out.stoppedBy !== undefined) return [text, out.stoppedBy];
  }
  return [text + stream.flush(), undefined];
}

describe('a stop text', () => {
  test.each([
    [['one ', 'END two'], 'one '],
    [['one E', 'N', 'D two'], 'one '],
    [['END'], ''],
    [['E', 'EN', 'END'], 'EEN'],
  ])('ends %j, however it is spread', (pieces, text) => {
    expect(passed(['END'], pieces)).toEqual([text, 'END']);
  });

  test('that does not come to its end is text', () => {
    expect(passed(['END'], ['one EN', 'tity EN'])).toEqual(['one ENtity EN', undefined]);
  });

  test('is the first of several in the text, and of two at one place the longer', () => {
    expect(passed(['two', 'one'], ['zero one two'])).toEqual(['zero ', 'one']);
    expect(passed(['\n', '\n\n'], ['a\n\nb'])).toEqual(['a', '\n\n']);
  });

  test('is found at the same place however the text is cut', () => {
    const text = 'abababacab';
    const whole = passed(['abac'], [text]);
    expect(whole).toEqual(['abab', 'abac']);
    for (let cut = 1; cut < text.length; cut++)
      expect(passed(['abac'], [text.slice(0, cut), text.slice(cut)])).toEqual(whole);
    expect(passed(['abac'], Array.from(text))).toEqual(whole);
  });
});

test('nothing is held back but what may be the beginning of one', () => {
  const stream = new StopTexts(['END']);
  expect(stream.push('one E')).toEqual({ text: 'one ', stoppedBy: undefined });
  expect(stream.push('x')).toEqual({ text: 'Ex', stoppedBy: undefined });
});
