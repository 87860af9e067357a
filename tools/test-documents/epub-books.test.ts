import { describe, expect, test } from 'vitest';
import { epub } from '../../src-main/library/formats/epub.ts';
import type { ParsedDocument } from '../../src-main/library/formats/format.ts';
import { zip } from './zip.ts';

/** A book of files, with its container unless the files have one. */
interface Book {
  /** The manifest's items and the spine. */
  items: string;
  spine: string;
  files: Readonly<Record<string, string | Buffer>>;
  container?: string | Buffer;
  root?: string;
  opf?: string;
  metadata?: string;
  /** A file whose data is overwritten. */
  damaged?: string;
}

const NAMESPACE = 'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"';
const rootFile = (path: string): string =>
  `<?xml version="1.0"?><container ${NAMESPACE}><rootfiles><rootfile full-path="${path}" media-type="application/oebps-package+xml"/></rootfiles></container>`;
const html = (body: string): string =>
  `<html xmlns:epub="http://www.idpf.org/2007/ops"><head><title>T</title></head><body>${body}</body></html>`;
const page = (id: string, href = `${id}.xhtml`, more = ''): string =>
  `<item id="${id}" href="${href}" media-type="application/xhtml+xml" ${more}/>`;
const WEIR = { 'a.xhtml': html('<h1>Weirs</h1><p>The weir is 30 cm high.</p>') };
const WEIR_TEXT = '# Weirs\n\nThe weir is 30 cm high.';

async function read({
  items,
  spine,
  files,
  container,
  root = '',
  opf = 'OPS/p.opf',
  metadata = '<dc:title>Book</dc:title>',
  damaged,
}: Book): Promise<ParsedDocument> {
  const folder = opf
    .split('/')
    .slice(0, -1)
    .map((part) => `${part}/`)
    .join('');
  const source = `<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">${metadata}</metadata><manifest>${items}</manifest><spine>${spine}</spine></package>`;
  const entries = [
    { name: `${root}META-INF/container.xml`, data: container ?? rootFile(opf) },
    { name: root + opf, data: source },
    ...Object.entries(files).map(([name, data]) => ({ name: root + folder + name, data })),
  ];
  const bytes = zip(entries);
  const data = damaged === undefined ? 0 : bytes.indexOf(damaged) + damaged.length;
  if (data > 0) bytes.fill(0xff, data, data + 16);
  return await epub({ name: 'book.epub', bytes });
}

const one = { items: page('a'), spine: '<itemref idref="a"/>', files: WEIR };

describe('containers', () => {
  test.each<[string, Partial<Book>]>([
    ['usual', {}],
    ['a path that begins with ./', { container: rootFile('./OPS/p.opf') }],
    ['a path that begins with /', { container: rootFile('/OPS/p.opf') }],
    ['a path in percent-encoding', { opf: 'O PS/p.opf', container: rootFile('O%20PS/p.opf') }],
    [
      'a name with a percent sign',
      { items: page('a', 'a%25b.xhtml'), files: { 'a%b.xhtml': WEIR['a.xhtml'] } },
    ],
    [
      'a name that looks encoded',
      { items: page('a', 'a%20b.xhtml'), files: { 'a%20b.xhtml': WEIR['a.xhtml'] } },
    ],
    ['other case', { items: page('a', 'A.XHTML') }],
    ['UTF-16', { container: Buffer.from(`\ufeff${rootFile('OPS/p.opf')}`, 'utf16le') }],
    [
      'a prefix',
      {
        container: `<c:container xmlns:c="x"><c:rootfiles><c:rootfile full-path="OPS/p.opf"/></c:rootfiles></c:container>`,
      },
    ],
    ['in a folder of the archive', { root: 'My book/' }],
    ['a wrong path', { container: rootFile('none.opf') }],
    [
      'the spine before the manifest',
      { items: '', spine: `<itemref idref="a"/></spine><manifest>${page('a')}</manifest><spine>` },
    ],
    ['no spine', { spine: '' }],
  ])('%s', async (_, book) => {
    expect(await read({ ...one, ...book })).toMatchObject({ text: WEIR_TEXT, title: 'Book', warnings: [] });
  });

  test('no book', async () => {
    await expect(epub({ name: 'x.epub', bytes: zip([{ name: 'a.txt', data: 'x' }]) })).rejects.toMatchObject({
      code: 'DOCUMENT_UNREADABLE',
    });
  });

  test('the first of several titles', async () => {
    expect(
      (await read({ ...one, metadata: '<dc:title> Weirs </dc:title><dc:title>A history</dc:title>' })).title,
    ).toBe('Weirs');
  });
});

describe('chapters', () => {
  test('each in its encoding', async () => {
    const files = {
      'a.xhtml': Buffer.from(
        `\ufeff<?xml version="1.0" encoding="utf-16"?>${html('<p>Öfen</p>')}`,
        'utf16le',
      ),
      'b.xhtml': Buffer.from(`<?xml version="1.0" encoding="iso-8859-1"?>${html('<p>Flüsse</p>')}`, 'latin1'),
    };
    const { text } = await read({
      items: page('a') + page('b'),
      spine: '<itemref idref="a"/><itemref idref="b"/>',
      files,
    });
    expect(text).toBe('Öfen\n\nFlüsse');
  });

  test('notes: with their number, also hidden ones, in files apart, and in files outside of the reading order', async () => {
    const files = {
      'a.xhtml': html(
        '<p>Ash<a epub:type="noteref" href="#n1">1</a> and salt<sup><a role="doc-noteref" href="#n2">2</a></sup>, clay<a href="end%20notes.xhtml#n3">*</a>.</p>' +
          '<aside epub:type="footnote" id="n1"><p>From 1611.</p></aside><aside hidden="" epub:type="footnote" id="n2"><p>2. From 1700.</p></aside>',
      ),
      'b.xhtml': html('<p>Last.</p>'),
      'end notes.xhtml': html('<p id="n3">* From 1800.</p>'),
      'unused.xhtml': html('<p>Nothing leads here.</p>'),
    };
    const items = page('a') + page('b') + page('c', 'end%20notes.xhtml') + page('d', 'unused.xhtml');
    const document = await read({
      items,
      spine: '<itemref idref="a"/><itemref idref="b" linear="no"/>',
      files,
    });
    expect(document.text).toBe(
      'Ash[1] and salt[2], clay*.\n\n[1] From 1611.\n\n2. From 1700.\n\nLast.\n\n* From 1800.',
    );
  });

  test('drawings, fallbacks, and formats that are not read', async () => {
    const files = {
      'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"><title>T</title><text>The weir at Orm</text></svg>',
      'p.bin': 'x',
      'q.bin': 'x',
      ...WEIR,
    };
    const items =
      `<item id="s" href="a.svg" media-type="image/svg+xml"/><item id="p" href="p.bin" media-type="application/x-own" fallback="a"/>` +
      `<item id="q" href="q.bin" media-type="application/x-own" fallback="q"/>${page('a')}`;
    const spine = '<itemref idref="s"/><itemref idref="p"/><itemref idref="q"/>';
    expect(await read({ items, spine, files })).toMatchObject({
      text: `The weir at Orm\n\n${WEIR_TEXT}`,
      warnings: ['Chapters in a format that is not read: q.bin.'],
    });
  });

  test('missing, damaged and pictured ones are named', async () => {
    const picture = html('<img src="x.png" alt="page 7"/>');
    const files = {
      'cover.xhtml': picture,
      ...WEIR,
      'b.xhtml': html('<p>Lost.</p>'),
      'd.xhtml': picture,
    };
    const items = ['cover', 'a', 'b', 'c', 'd'].map((id) => page(id)).join('');
    const spine = ['cover', 'a', 'b', 'c', 'd'].map((id) => `<itemref idref="${id}"/>`).join('');
    expect(await read({ items, spine, files, damaged: 'OPS/b.xhtml' })).toMatchObject({
      text: WEIR_TEXT,
      warnings: [
        'Chapters that are missing or damaged: b.xhtml, c.xhtml.',
        'Chapters with only pictures: d.xhtml.',
      ],
    });
  });

  test('a book of pictures', async () => {
    const files = {
      'a.xhtml': html('<svg><image href="1.png"/></svg>'),
      'b.xhtml': html('<img src="2.png" alt="Page 2"/>'),
    };
    await expect(
      read({ items: page('a') + page('b'), spine: '<itemref idref="a"/><itemref idref="b"/>', files }),
    ).rejects.toThrow('only pictures');
  });
});
