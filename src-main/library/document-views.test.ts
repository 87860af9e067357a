import { appendFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { archive, wordFile } from '../testing/office-files.ts';
import { at, pdfFile } from '../testing/pdf-file.ts';
import { ServiceFixture } from '../testing/library.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

async function book(): Promise<Buffer> {
  const chapter = (title: string, words: string): string =>
    `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>${title}</h1><p>${words}</p><img src="../lamp.png" alt="Lamp"/></body></html>`;
  return archive({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf': `<package><manifest><item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>
      <item id="b" href="text/b.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
    'OPS/lamp.png': PNG,
    'OPS/text/a.xhtml': chapter('The keeper', 'He trims the lamp at dusk.'),
    'OPS/text/b.xhtml': chapter('The storm', 'The waves break over the mole.'),
  });
}

const MAIL = `From: Mara <mara@example.com>
Subject: The ladder
MIME-Version: 1.0
Content-Type: multipart/related; boundary=b

--b
Content-Type: text/html; charset=utf-8

<p>The ladder is <b>behind the shed</b>.</p><img src="cid:lamp"><img src="https://example.com/pixel.gif">
--b
Content-Type: image/png
Content-ID: <lamp>
Content-Transfer-Encoding: base64

${PNG.toString('base64')}
--b--
`;
const ATTACHED = `From: a@b.c
Subject: The table
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

See below.
--b
Content-Type: text/plain; name=tide.txt
Content-Disposition: attachment; filename=tide.txt

The tide table hangs beside the door.
--b--
`;
const MAILBOX = ['one', 'two']
  .map(
    (word) =>
      `From a@b.c Mon Jan  1 10:00:00 2024\nFrom: a@b.c\nSubject: Letter ${word}\n\nBody ${word}.\n\n`,
  )
  .join('');

async function opened() {
  const fixture = new ServiceFixture({
    'book.epub': await book(),
    'page.html': '<h1>Harbour</h1><p>The ferry leaves at noon.</p><script>alert(1)</script>',
    'word.docx': await wordFile(
      `${paragraph('The crane lifts ninety tons.')}<w:tbl><w:tr><w:tc>${paragraph('Berth')}</w:tc><w:tc>${paragraph('Crowns')}</w:tc></w:tr><w:tr><w:tc>${paragraph('North pier')}</w:tc><w:tc>${paragraph('40')}</w:tc></w:tr></w:tbl>`,
    ),
    'old.rtf': '{\\rtf1 The pilot boat is <red>.}',
    'letter.eml': MAIL,
    'box.mbox': MAILBOX,
    'attached.eml': ATTACHED,
    'notes.md': '# Notes\n\nThe *tide* table.\n',
    'plan.pdf': pdfFile([at(60, 700, 'A plan of the mole')]),
    'code.py': 'print(1)\n',
  });
  const { id } = await fixture.library();
  const documents = new Map(fixture.documents(id).map((document) => [document.path, document]));
  const idOf = (path: string): string => documents.get(path)!.id;
  /** The page at the first place of these words in the text. */
  const pageAt = (path: string, words: string) => {
    const { text } = fixture.service.documents.text({ id: idOf(path), offset: 0, limit: 10_000 });
    const start = text.indexOf(words);
    expect(start).toBeGreaterThan(-1);
    return fixture.service.views.page({ id: idOf(path), start, end: start + words.length });
  };
  return { fixture, views: fixture.service.views, idOf, pageAt };
}

test('documents are shown as pages, with the passage marked', async () => {
  const { pageAt, views, idOf } = await opened();
  const mark = (html: string): string => html.match(/<mark[^>]*>(.*?)<\/mark>/)?.[1] ?? '';

  const html = await pageAt('page.html', 'The ferry leaves');
  expect(html.html).toBe('<h1>Harbour</h1><p><mark id="passage">The ferry leaves</mark> at noon.</p>');
  const word = await pageAt('word.docx', 'North pier');
  expect([mark(word.html), word.isMarked]).toEqual(['North pier', true]);
  expect(word.html).toContain('<table><tr>');
  expect((await pageAt('old.rtf', 'pilot boat')).html).toContain('&lt;red&gt;');
  expect((await pageAt('notes.md', 'table')).html).toContain('<em>tide</em> <mark id="passage">table</mark>');

  const letter = await pageAt('letter.eml', 'behind the shed');
  expect(letter.html).toContain('<th>Subject</th><td>The ladder</td>');
  expect(letter.html).toContain('<b><mark id="passage">behind the shed</mark></b>');
  expect(letter.html).toContain(`<img src="data:image/png;base64,${PNG.toString('base64')}">`);
  expect(letter.html).not.toContain('example.com/pixel');

  const chapter = await pageAt('book.epub', 'The waves break');
  expect([chapter.part, chapter.parts]).toEqual([1, ['The keeper', 'The storm']]);
  expect(chapter.html).toContain('<mark id="passage">The waves break</mark>');
  expect(chapter.html).toContain('<img alt="Lamp" src="data:image/png;base64,');
  expect(chapter.html).not.toContain('keeper');
  const first = await views.page({ id: idOf('book.epub'), part: 0, start: 10_000, end: 10_010 });
  expect([first.html.includes('trims the lamp'), first.isMarked]).toEqual([true, false]);
  expect((await views.page({ id: idOf('box.mbox'), part: 1 })).html).toContain('Body two.');
  const attached = await pageAt('attached.eml', 'hangs beside');
  expect([attached.part, attached.parts]).toEqual([1, ['The table', 'tide.txt']]);
  expect(attached.html).toContain('The tide table <mark id="passage">hangs beside</mark> the door.');
});

test('a page is made once for the window and its frame, and again when the file has changed', async () => {
  const { fixture, views, idOf } = await opened();
  const input = { id: idOf('page.html') };
  const first = await views.page(input);
  const file = join(fixture.root, 'page.html');
  appendFileSync(file, '<p>News.</p>');
  utimesSync(file, new Date(), new Date());
  expect(first.html).not.toContain('News');
  expect((await views.page(input)).html).toContain('News');
});

test('a changed file is distinguished from one that was only touched', async () => {
  const { fixture, views, idOf } = await opened();
  const id = idOf('page.html');
  const file = join(fixture.root, 'page.html');
  expect(await views.hasChanged(id)).toBe(false);
  utimesSync(file, new Date(0), new Date(0));
  expect(await views.hasChanged(id)).toBe(false);
  appendFileSync(file, '<p>News.</p>');
  expect(await views.hasChanged(id)).toBe(true);
  rmSync(file);
  expect(await views.hasChanged(id)).toBe(false);
});

test('files are given by id, when a browser can show them', async () => {
  const { fixture, views, idOf } = await opened();
  expect((await views.file(idOf('plan.pdf'))).path).toBe(join(fixture.root, 'plan.pdf'));
  for (const path of ['page.html', 'word.docx', 'code.py'])
    await expect(views.file(idOf(path))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  for (const id of ['999', '../1', 'x'])
    await expect(views.file(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  rmSync(join(fixture.root, 'plan.pdf'));
  await expect(views.file(idOf('plan.pdf'))).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
  await expect(views.page({ id: idOf('book.epub'), part: 9 })).rejects.toMatchObject({
    code: 'DOCUMENT_NO_TEXT',
  });
});
