import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ParsedDocument } from '../../src-main/library/formats/format.ts';
import { ParserProcess } from '../../src-main/library/parser/parser-process.ts';
import { epub, type Chapter } from './documents.ts';

let dir: string;
let parser: ParserProcess;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-epub-'));
  parser = new ParserProcess();
});
afterAll(() => {
  parser.close();
  rmSync(dir, { recursive: true, force: true });
});

async function parse(bytes: Buffer): Promise<ParsedDocument> {
  const path = join(dir, 'book.epub');
  writeFileSync(path, bytes);
  const request = { path, name: 'book.epub', format: 'epub', maxBytes: 1e6, knownSha256: undefined };
  const outcome = await parser.parse(request);
  if (outcome.kind !== 'parsed') throw new Error('not parsed');
  return outcome.document;
}

/** The text under a heading's title. */
function headingLines({ text, headings }: ParsedDocument): string[] {
  return (headings ?? []).map(({ start, level, title }) => {
    const line = text.slice(start).split('\n')[0] ?? '';
    expect(line).toBe(`${'#'.repeat(level)} ${title}`);
    return line;
  });
}

const page = (body: string): string =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Book</title></head><body>${body}</body></html>`;

const nav = (list: string): string => `<?xml version="1.0"?>
  <html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
    <nav epub:type="landmarks"><ol><li><a href="../a.xhtml">Landmark</a></li></ol></nav>
    <nav epub:type="toc"><h1>Contents</h1>${list}</nav>
    <nav epub:type="page-list"><ol><li><a href="../a.xhtml">iv</a></li></ol></nav></body></html>`;

const ncx = (points: string): string => `<?xml version="1.0"?>
  <ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><docTitle><text>Book</text></docTitle>
    <navMap>${points}</navMap><pageList><navLabel><text>Pages</text></navLabel></pageList></ncx>`;

const point = (title: string, src: string, below = ''): string =>
  `<navPoint><navLabel><text>${title}</text></navLabel><content src="${src}"/>${below}</navPoint>`;

const TWO: Chapter[] = [
  { file: 'a.xhtml', html: page('<p>The lamp went out.</p>') },
  { file: 'text/b.xhtml', html: page('<p>It came back.</p><p id="noon">Boats call.</p>') },
];

describe('a navigation target without a heading gets its label as heading', () => {
  test('EPUB 3: at the start of a file and at an element, nested as the list is', async () => {
    const list = `<ol><li><a href="../a.xhtml">Night</a></li><li><a href="../text/b.xhtml">Day</a>
      <ol><li><a href="../text/b.xhtml#noon">Noon</a></li></ol></li></ol>`;
    const document = await parse(epub(TWO, 'Book', { nav: nav(list) }));
    expect(document.text).toBe(
      '# Night\n\nThe lamp went out.\n\n# Day\n\nIt came back.\n\n## Noon\n\nBoats call.',
    );
    expect(headingLines(document)).toEqual(['# Night', '# Day', '## Noon']);
    expect(document.pages.map(({ label }) => label)).toEqual(['Night', 'Day']);
  });

  test('EPUB 2', async () => {
    const points =
      point('Night', 'a.xhtml') + point('Day', 'text/b.xhtml', point('Noon', 'text/b.xhtml#noon'));
    expect(headingLines(await parse(epub(TWO, 'Book', { ncx: ncx(points) })))).toEqual([
      '# Night',
      '# Day',
      '## Noon',
    ]);
  });

  test('EPUB 3 navigation takes precedence; EPUB 2 is the fallback', async () => {
    const old = ncx(point('Old', 'a.xhtml'));
    const list = '<ol><li><a href="../a.xhtml">New</a></li></ol>';
    expect(headingLines(await parse(epub(TWO, 'Book', { nav: nav(list), ncx: old })))).toEqual(['# New']);
    expect(headingLines(await parse(epub(TWO, 'Book', { nav: nav(''), ncx: old })))).toEqual(['# Old']);
  });

  test('any anchor can be a target, and leaves no trace in the text', async () => {
    const html = page(
      `<p>One <a id="x"></a> two<span id="y"></span>three.</p><div id="b%c"><p>Four.</p></div><ul><li id="d">Five.</li></ul>
       <p><a name="e"/>Six.</p><section id="f"><p>Seven.</p></section>
       <blockquote id="g"><p>Eight.</p></blockquote><ul id="h"><li>Nine.</li></ul>`,
    );
    const ids = ['b%25c', 'd', 'e', 'f', 'g', 'h', 'none'];
    const points = ids.map((id) => point(`To ${id}`, `a.xhtml#${id}`)).join('');
    const { text } = await parse(epub([{ file: 'a.xhtml', html }], 'Book', { ncx: ncx(points) }));
    expect(text).toBe(
      'One twothree.\n\n# To b%25c\n\nFour.\n\n# To d\n\n- Five.\n\n# To e\n\nSix.\n\n# To f\n\nSeven.\n\n' +
        '# To g\n\n> Eight.\n\n# To h\n\n- Nine.',
    );
    const inside = ncx(point('Middle', 'a.xhtml#x') + point('End', 'a.xhtml#y'));
    expect((await parse(epub([{ file: 'a.xhtml', html }], 'Book', { ncx: inside }))).text).toMatch(
      /^# Middle\n\n# End\n\nOne twothree\.\n/,
    );
  });

  test("a paragraph with the label's text becomes the heading", async () => {
    const html = page('<p class="head">PART ONE</p><p>1</p><p>The<br/>Night</p><p>The lamp went out.</p>');
    const list = `<ol><li><span>Part one</span><ol><li><a href="../a.xhtml">1. The Night</a></li></ol></li></ol>`;
    const document = await parse(epub([{ file: 'a.xhtml', html }], 'Book', { nav: nav(list) }));
    expect(document.text).toBe('# Part one\n\n## 1. The Night\n\nThe lamp went out.');
    expect(headingLines(document)).toEqual(['# Part one', '## 1. The Night']);
  });

  test('an entry without a target does not affect the next one', async () => {
    const list = '<ol><li>A</li><li><a href="../a.xhtml">Night</a></li></ol>';
    expect(headingLines(await parse(epub(TWO, 'Book', { nav: nav(list) })))).toEqual(['# Night']);
  });

  test('labels are one trimmed line', async () => {
    const list = '<ol><li><a href="../a.xhtml">\n  1\t<b>The &amp; \u202e\n Night</b> </a></li></ol>';
    expect(headingLines(await parse(epub(TWO, 'Book', { nav: nav(list) })))).toEqual(['# 1 The & Night']);
  });
});

describe('headings of chapters are kept', () => {
  test("at the target, around it, or with the label's text further on", async () => {
    const html = page(
      `<h1>Night</h1><p>One.</p><section id="b"><h2>Oil</h2><p>Two.</p></section>
       <h2><a id="c"></a>Wicks</h2><p>Three.</p><div id="d"><p>12</p><h2>The Boat</h2><p>Four.</p></div>
       <div id="e"><p>V</p><h2>Home</h2><p>Five.</p></div>`,
    );
    const points =
      point('Chapter 1', 'a.xhtml') +
      point('Of oil', 'a.xhtml#b') +
      point('Of wicks', 'a.xhtml#c') +
      point('The boat', 'a.xhtml#d') +
      point('V. Home', 'a.xhtml#e');
    const book = [{ file: 'a.xhtml', html }];
    const document = await parse(epub(book, 'Book', { ncx: ncx(points) }));
    expect(document).toEqual(await parse(epub(book, 'Book')));
    expect(headingLines(document)).toEqual(['# Night', '## Oil', '## Wicks', '## The Boat', '## Home']);
  });

  test('and define the level of their depth in the navigation', async () => {
    const book = [
      { file: 'a.xhtml', html: page('<p>Thanks.</p>') },
      { file: 'b.xhtml', html: page('<h2>Night</h2><p>One.</p><p id="oil">Two.</p>') },
      { file: 'c.xhtml', html: page('<h2>Day</h2><p>Three.</p>') },
    ];
    const points =
      point('Preface', 'a.xhtml') +
      point('Night', 'b.xhtml', point('Oil', 'b.xhtml#oil')) +
      point('Day', 'c.xhtml');
    expect(headingLines(await parse(epub(book, 'Book', { ncx: ncx(points) })))).toEqual([
      '## Preface',
      '## Night',
      '### Oil',
      '## Day',
    ]);
  });

  test('a part that begins with its first chapter is the parent of that chapter', async () => {
    const book = [{ file: 'a.xhtml', html: page('<h2>Night</h2><p>One.</p>') }];
    const points = point('Part one', 'a.xhtml', point('Night', 'a.xhtml'));
    expect(headingLines(await parse(epub(book, 'Book', { ncx: ncx(points) })))).toEqual([
      '# Part one',
      '## Night',
    ]);
  });
});

describe('a book is read as if it had no navigation', () => {
  test.each([
    ['it is no XML', { nav: 'nothing < of & the kind', ncx: '\0' }],
    ['it has no table of contents', { nav: page('<nav><ol><li><a href="../a.xhtml">x</a></li></ol></nav>') }],
    ['it points nowhere', { ncx: ncx(point('A', 'z.xhtml') + point('B', 'a.xhtml#z') + point('C', '%zz')) }],
    ['its labels say nothing', { ncx: ncx(point(' ', 'a.xhtml') + point('***', 'text/b.xhtml')) }],
    ['its entries lead nowhere', { nav: nav('<ol><li><span>A</span></li><li>B</li></ol>') }],
  ])('%s', async (_, extras) => {
    expect(await parse(epub(TWO, 'Book', extras))).toEqual(await parse(epub(TWO, 'Book')));
  });

  test('its file is damaged', async () => {
    const book = epub(TWO, 'Book', { nav: nav('<ol><li><a href="../a.xhtml">Night</a></li></ol>') });
    const path = 'OEBPS/nav/nav.xhtml';
    const data = book.indexOf(path) + path.length;
    book.fill(0xff, data, data + 16);
    expect(await parse(book)).toEqual(await parse(epub(TWO, 'Book')));
  });

  test('it points at pictures only', async () => {
    const cover = { file: 'cover.xhtml', html: page('<img src="a.png" alt=""/>') };
    const points = ncx(point('Cover', 'cover.xhtml'));
    expect(headingLines(await parse(epub([cover, ...TWO], 'Book', { ncx: points })))).toEqual([]);
    await expect(parse(epub([cover], 'Book', { ncx: points }))).rejects.toMatchObject({
      code: 'DOCUMENT_NO_TEXT',
    });
  });
});
