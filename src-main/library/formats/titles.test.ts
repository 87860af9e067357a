import { describe, expect, test } from 'vitest';
import { conflictOf, markdownTitle, plainTextTitle, tidyTitle, titleOfPath } from './titles.ts';

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
    ['..\n   a comment\n\n:orphan:\n:Author: Mara\n\nRules\n=====\n\ntext', 'Rules'],
    ['=======\n Rules\n=======\n\ntext', 'Rules'],
    ['-*- mode: rst -*-\n\nRules\n=====\n\ntext', 'Rules'],
    ['= Harbour\nMara Ek <m@example.org>\n:toc:\n\ntext', 'Harbour'],
  ])('of %j is %j', (text, title) => {
    expect(markdownTitle(text)).toBe(title);
  });

  test('of Org is named', () => {
    expect(plainTextTitle('#+AUTHOR: Mara\n#+TITLE: Harbour rules\n\n* One\n')).toBe('Harbour rules');
  });

  test('of a file is its name, on one line', () => {
    expect(titleOfPath('docs/a\u202egnp.txt')).toBe('a gnp');
    expect(titleOfPath('docs/new\nline.txt')).toBe('new line');
    expect(titleOfPath('docs/.txt')).toBe('.txt');
  });

  test.each([
    'a (conflicted copy).txt',
    'a (Mara’s conflicted copy 2024-01-01).md',
    'a (In Konflikt stehende Kopie von Mara 2024-01-01).md',
    'a (Copie en conflit de Mara 2024-01-01).md',
    'a (SFConflict mara@example.org 2024-01-01-12-00-00).md',
    'a.sync-conflict-20240101-123456-ABCDEFG.md',
    'a_conflict-20240101-123456.md',
  ])('%s is a conflict copy', (name) => {
    expect(conflictOf(`docs/${name}`)).toMatch(/conflict copy/);
  });

  test.each(['Conflict of interest.md', 'a (conflict of interest).md', 'conflict-notes.md', 'a (2).md'])(
    '%s is none',
    (name) => {
      expect(conflictOf(name)).toBeUndefined();
    },
  );

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
