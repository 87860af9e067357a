import { describe, expect, test } from 'vitest';
import { markdownTitle, plainTextTitle, tidyTitle } from './titles.ts';

describe('titles', () => {
  test.each([
    ['# Harbour *rules* ##\n\ntext', 'Harbour rules'],
    ['text\n\n  # C#\n', 'C#'],
    ['\n\nHarbour rules\n=====\ntext', 'Harbour rules'],
    ['== Harbour ==\n\ntext', 'Harbour'],
    ['A line\nand another', ''],
    [`${'x'.repeat(81)}\n\ntext`, ''],
    ['Alone', ''],
    ['.. :changelog:\n\nRelease History\n---------------\n\ntext', 'Release History'],
    ['.. _top:\n\n.. note::\n   Not the title\n\n=====\nRules\n=====\n\ntext', 'Rules'],
  ])('of %j is %j', (text, title) => {
    expect(markdownTitle(text)).toBe(title);
  });

  test('long runs of white space, marks or hashes are looked at once', () => {
    for (const run of [' ', '\t', '\n', '=', '#', ' #', '*'].map((mark) => mark.repeat(60_000))) {
      for (const text of [`${run}x${'y'.repeat(100)}`, `# a${run}x`, `x${run}y\n\n`]) {
        expect(typeof markdownTitle(text)).toBe('string');
        expect(typeof plainTextTitle(text)).toBe('string');
      }
    }
  });

  test('one line that does not turn what stands after it', () => {
    expect(tidyTitle(' Rules\r\n\u202egnp.\u2066exe\0 ')).toBe('Rules gnp. exe');
    expect(tidyTitle('x'.repeat(1000))).toHaveLength(300);
    expect(tidyTitle(`${'x'.repeat(299)}😀`).isWellFormed()).toBe(true);
  });
});
