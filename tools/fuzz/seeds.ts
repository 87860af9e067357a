/** A small document of every format that has a parser, to be mutated. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { oldSlidesFile, oldWordFile, record } from '../../src-main/testing/compound-files.ts';
import { epub, pdf, slides, word, workbook } from '../test-documents/documents.ts';
import { zip } from '../test-documents/zip.ts';

export interface Seed {
  /** Its extension chooses the parser. */
  name: string;
  bytes: Buffer;
}

const TABLE =
  '<table><tr><th>Berth</th><th colspan="2">Crowns</th></tr><tr><td>North</td><td>4</td></tr></table>';
const HTML = `<!doctype html><html><head><meta charset="utf-8"><title>Weir</title></head><body><nav>x</nav><main><h1>Weir</h1><p>The <b>weir</b> &amp; its <math><mi>x</mi></math>.</p><ul><li>one<li>two</ul>${TABLE}</main></body></html>`;
const MAIL =
  'From: Ida <ida@example.org>\nTo: b@c.de\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\nDate: Tue, 3 Feb 2026 10:00:00 +0100\n' +
  'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n' +
  `Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe\n--b\nContent-Type: text/html\n\n${HTML}\n--b\n` +
  'Content-Type: application/pdf; name="a.pdf"\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n--b--\n';
const ODF =
  '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">' +
  '<office:body><office:text><text:h text:outline-level="1">Weir</text:h><text:p>Built<text:s text:c="3"/>1904</text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>' +
  '<table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>4</text:p></table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>';
const NOTEBOOK = JSON.stringify({
  nbformat: 4,
  metadata: { kernelspec: { language: 'python' } },
  cells: [
    { cell_type: 'markdown', source: ['# Weir\n', 'text'] },
    { cell_type: 'code', source: 'print(1)', outputs: [{ output_type: 'stream', text: ['1\n'] }] },
  ],
});

const TEXTS: Record<string, string> = {
  'a.html': HTML,
  'a.eml': MAIL,
  'a.mbox': `From a@b.c Tue Feb  3 10:00:00 2026\n${MAIL}\n\nFrom d@e.f Tue Feb  3 10:00:00 2026\nSubject: Two\n\nText\n`,
  'a.mhtml': MAIL,
  'a.csv': 'Name;Built;Crew\n"Aurora; the ""first""";1987-05-01;12\nBorealis;1999-01-09;7\n',
  'a.md': `---\ntitle: Weir\ntags: [a, b]\n---\n# Weir\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`js\nx\n\`\`\`\n`,
  'a.txt': 'The weir was built in 1904.\r\n\r\nIt is 30 cm higher now.\n',
  'a.srt': '1\n00:00:01,000 --> 00:00:02,500\n<i>Hello</i>\n\n2\n00:00:03,000 --> 00:00:04,000\nWeir\n',
  'a.vtt': 'WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.000 align:start\n<v Ida>Hello\n',
  'a.ipynb': NOTEBOOK,
  'a.tex': String.raw`\documentclass{article}\newcommand{\w}[1]{weir #1}\begin{document}\section{Weir}\w{a} $x^2$ \begin{tabular}{ll}a & b \\ \end{tabular}\end{document}`,
  'a.json': '{"name": "Aurora", "built": [1987, 5, 1], "crew": {"size": 12.5e0, "note": "x\\u00e9"}}',
  'a.py': 'def weir():\n    return 1904\n',
  'a.rtf': String.raw`{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}\s1 Weir\par\pard\u228?\'e4 text\trowd\cellx100\intbl a\cell\row\par{\footnote b}}`,
  'a.fodt': ODF,
};

/** Of one page each. */
const PICTURES = join(import.meta.dirname, '..', 'test-documents', 'pages');

export async function documentSeeds(): Promise<Seed[]> {
  const chapters = [
    { file: 'one.xhtml', html: HTML },
    { file: 'two.xhtml', html: '<h1>Two</h1><p>x</p>' },
  ];
  const made: Record<string, Buffer> = {
    'a.pdf': await pdf([['The harbour opens at seven.'], ['Page two']], 'Harbour', {
      bookmarks: [{ title: 'Two', page: 1 }],
    }),
    'a.docx': await word(),
    'a.pptx': await slides(),
    'a.xlsx': await workbook(),
    'a.epub': epub(chapters),
    'a.odt': zip([
      { name: 'mimetype', data: 'application/vnd.oasis.opendocument.text' },
      { name: 'content.xml', data: ODF },
    ]),
    'a.doc': oldWordFile({ text: 'Weir\rBuilt in 1904.\r', lengths: { body: 19 }, paragraphs: [[5, 1]] }),
    'a.ppt': oldSlidesFile([record(0x03e8, [record(0x0fa0, Buffer.from('Weir', 'utf16le'))])]),
  };
  const texts = Object.entries(TEXTS).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  const files = Object.entries(made).map(([name, bytes]) => ({ name, bytes }));
  const pictures = readdirSync(PICTURES).map((name) => ({ name, bytes: readFileSync(join(PICTURES, name)) }));
  return [...texts, ...files, ...pictures];
}
