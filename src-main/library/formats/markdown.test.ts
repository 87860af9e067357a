import { expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { markdown } from './markdown.ts';

const read = async (text: string): Promise<ParsedDocument> =>
  await markdown({ name: 'a.md', bytes: Buffer.from(text) });

test.each([
  [
    'YAML with a comment',
    '---\n# edited by a program\ntitle: "Plan for the weir"\nauthor: Ida Voss\ndate: 2026-02-03\ntags: [weir, 2026]\n---\n\nText.',
    'Plan for the weir',
    'author: Ida Voss\ndate: 2026-02-03\ntags: weir, 2026\n\nText.',
  ],
  [
    'YAML with nested values',
    '---\ntitle: >\n  A long\n  title\nauthors:\n  - name: Ida\n    at: Orm\n  - Per\nempty:\n...\nText.',
    'A long title',
    'authors: name: Ida, at: Orm, Per\n\nText.',
  ],
  [
    'YAML that is not valid',
    '---\ntitle: Weir: a plan\ntags:\n  - a\n---\n# Body',
    'Weir: a plan',
    'tags: - a\n\n# Body',
  ],
  ['TOML', '+++\ntitle = "Weir"\n# no\ndate = 2026-02-03\n+++\nText.', 'Weir', 'date: 2026-02-03\n\nText.'],
  ['no title: the first heading', '---\ndate: 2026\n---\n# Weir\n', 'Weir', 'date: 2026\n\n# Weir\n'],
  ['a rule is not front matter', '---\n\nText\n\n---\n', 'Text', '---\n\nText\n\n---\n'],
  ['nothing but a mark', '---\n', '', '---\n'],
])('front matter: %s', async (_, source, title, text) => {
  expect(await read(source)).toMatchObject({ title, text });
});

test.each([
  [
    'an underlined heading after code',
    '```sh\n# remove it first\n```\n\nHow it is fitted\n================\n\nText.',
    'How it is fitted',
  ],
  ['a fence of tildes', '~~~\n# opened twice\n```\n~~~\n# Sluice log\n', 'Sluice log'],
  ['a comment', '<!-- # opened\n# twice -->\n# Sluice log\n', 'Sluice log'],
  ['an indented line', '    # opened twice\n\n# Sluice log\n', 'Sluice log'],
  ['a heading of two lines', 'Sluice\nlog\n===\n', 'Sluice log'],
])('title: not from code and comments: %s', async (_, source, title) => {
  expect((await read(source)).title).toBe(title);
});

test('comments are left out, except in code', async () => {
  const source =
    '<!-- gone -->\n# A\n\nb <!-- gone --> c `<!-- code -->`\n<!-- gone\n\ngone -->\n\n```\n<!-- code -->\n```\n\n    <!-- code -->\n';
  expect((await read(source)).text).toBe(
    '# A\n\nb  c `<!-- code -->`\n\n```\n<!-- code -->\n```\n\n    <!-- code -->\n',
  );
  expect((await read('a <!-- b\nc')).text).toBe('a <!-- b\nc');
});

test('front matter made to grow', async () => {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (const name of 'bcdefghij') {
    const above = `*${String.fromCharCode(name.charCodeAt(0) - 1)}`;
    lines.push(`${name}: &${name} [${Array<string>(10).fill(above).join(', ')}]`);
  }
  expect((await read(`---\n${lines.join('\n')}\n---\nText.`)).text.length).toBeLessThan(30_000);
  await expect(read('---\ntitle: only\n---\n')).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
});
