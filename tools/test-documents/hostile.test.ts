import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pdfFile } from '../../src-main/testing/pdf-file.ts';
import { formatOf } from '../../src-main/library/formats/formats.ts';
import { ParserProcess } from '../../src-main/library/parser/parser-process.ts';
import type { KvasirError } from '../../src-shared/errors.ts';
import { epub, pdf, slides, word, workbook } from './documents.ts';
import { zip } from './zip.ts';

const MiB = 1024 * 1024;
let dir: string;
let parser: ParserProcess;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-hostile-'));
  parser = new ParserProcess();
});
afterAll(() => {
  parser.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Its text, or the code of its refusal, which is a sentence for people. */
async function outcome(name: string, bytes: Buffer | string): Promise<string> {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  try {
    const read = await parser.parse({
      path,
      name,
      format: formatOf(name),
      maxBytes: 256 * MiB,
      knownSha256: undefined,
    });
    return read.kind === 'parsed' ? read.document.text : read.kind;
  } catch (error) {
    const { code, message } = error as KvasirError;
    expect(code, message).toMatch(/^DOCUMENT_/);
    expect(message, name).toMatch(/^\S+ .*\.$/s);
    expect(message, name).not.toMatch(/undefined|null|NaN|\[object|Error:|reader crashed|\bat .*:\d+/);
    return code;
  }
}

/** The queue goes on. */
async function expectNextIsRead(): Promise<void> {
  expect(await outcome('next.md', 'next')).toBe('next');
}

const word97 = (body: string): Buffer =>
  zip([{ name: 'word/document.xml', data: `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>` }]);

function sheet(data: string, strings = ''): Buffer {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return zip([
    {
      name: 'xl/workbook.xml',
      data: `<workbook xmlns:r="${type}"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `<Relationships><Relationship Id="a" Type="${type}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="b" Type="${type}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    },
    { name: 'xl/worksheets/sheet1.xml', data: `<worksheet>${data}</worksheet>` },
    { name: 'xl/sharedStrings.xml', data: `<sst>${strings}</sst>` },
  ]);
}

describe('files made to exhaust memory or time', () => {
  test('an archive of 60,000 entries, and one in an archive in an archive', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => ({ name: `word/${i}.xml`, data: '' }));
    expect(
      await outcome('many.docx', zip([{ name: 'word/document.xml', data: '<w:document/>' }, ...many])),
    ).toBe('DOCUMENT_TOO_LARGE');
    const inner = zip([{ name: 'a', data: Buffer.alloc(50 * MiB) }]);
    expect(await outcome('nested.docx', zip([{ name: 'b.zip', data: inner }]))).toBe('DOCUMENT_UNREADABLE');
    await expectNextIsRead();
  });

  test('one entry of 300 MB', async () => {
    const huge = zip([{ name: 'word/document.xml', data: Buffer.alloc(300 * MiB, 32) }]);
    expect(huge.length).toBeLessThan(MiB);
    expect(await outcome('huge.docx', huge)).toBe('DOCUMENT_TOO_LARGE');
    expect(await outcome('huge.odt', zip([{ name: 'content.xml', data: Buffer.alloc(300 * MiB, 32) }]))).toBe(
      'DOCUMENT_TOO_LARGE',
    );
  });

  test('a sheet of 20,001 × 16,384 cells, of which two have text', async () => {
    const data =
      '<dimension ref="A1:XFD20001"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>first</t></is></c></row>' +
      '<row r="20001"><c r="XFD20001" t="inlineStr"><is><t>last</t></is></c></row></sheetData>';
    expect(await outcome('far.xlsx', sheet(data))).toBe('## S\n\n- first\n- last');
  });

  test('a shared string that unfolds to 60 million characters', async () => {
    const cells = Array.from(
      { length: 2000 },
      (_, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>0</v></c></row>`,
    );
    const strings = `<si><t>${'x'.repeat(30_000)}</t></si>`;
    expect(await outcome('unfold.xlsx', sheet(`<sheetData>${cells.join('')}</sheetData>`, strings))).toBe(
      'DOCUMENT_TOO_LARGE',
    );
    await expectNextIsRead();
  });

  test('a million empty paragraphs', async () => {
    const read = await outcome(
      'empty.docx',
      word97(`${'<w:p/>'.repeat(1_000_000)}<w:p><w:r><w:t>end</w:t></w:r></w:p>`),
    );
    expect(read).toBe('end');
  });

  test.each([
    ['deep.html', (n: number) => '<div>'.repeat(n) + 'deep' + '</div>'.repeat(n), 20_000],
    ['deep.xml', (n: number) => '<a>'.repeat(n) + 'deep' + '</a>'.repeat(n), 100_000],
    ['deep.json', (n: number) => `${'['.repeat(n)}"deep"${']'.repeat(n)}`, 100_000],
    ['deep.rtf', (n: number) => `{\\rtf1 ${'{'.repeat(n)}deep${'}'.repeat(n)}}`, 100_000],
    ['deep.md', (n: number) => `${'> '.repeat(n)}deep`, 100_000],
    ['deep.tex', (n: number) => `${'{'.repeat(n)}deep${'}'.repeat(n)}`, 20_000],
    [
      'deep.eml',
      (n: number) =>
        `Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: multipart/mixed; boundary=b\n\n'.repeat(n)}deep`,
      10_000,
    ],
  ] as const)('%s', async (name, content, depth) => {
    expect(await outcome(name, content(depth))).toMatch(/deep|^DOCUMENT_|^From|Subject: x/);
    await expectNextIsRead();
  });

  test('deep nesting in DOCX', async () => {
    const depth = 100_000;
    const deep = word97(
      `<w:p>${'<w:ins>'.repeat(depth)}<w:r><w:t>deep</w:t></w:r>${'</w:ins>'.repeat(depth)}</w:p>`,
    );
    expect(await outcome('deep.docx', deep)).toMatch(/deep|^DOCUMENT_/);
    await expectNextIsRead();
  });

  test('entities that unfold to billions of characters', async () => {
    const entities = Array.from({ length: 10 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`);
    const type = `<!DOCTYPE x [<!ENTITY e0 "lol">${entities.join('')}]>`;
    const body = '<w:document><w:body><w:p><w:r><w:t>&e10;end</w:t></w:r></w:p></w:body></w:document>';
    expect(
      (await outcome('laughs.docx', zip([{ name: 'word/document.xml', data: `${type}${body}` }]))).length,
    ).toBeLessThan(100);
    expect((await outcome('laughs.html', `${type}<p>&e10;end</p>`)).length).toBeLessThan(3000);
    expect((await outcome('laughs.xml', `${type}<p>&e10;end</p>`)).length).toBeLessThan(3000);
    await expectNextIsRead();
  });
});

describe('damaged files of each kind', () => {
  const documents: [string, () => Buffer | Promise<Buffer>][] = [
    ['a.pdf', () => pdf([['One page.'], ['Another.']])],
    ['a.docx', word],
    ['a.pptx', slides],
    ['a.xlsx', workbook],
    ['a.epub', () => epub([{ file: 'a.xhtml', html: '<h1>One</h1><p>Text</p>' }])],
    [
      'a.rtf',
      () => Buffer.from(String.raw`{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard One \'e9{\b two}\par {\*\x y}}`),
    ],
    [
      'a.html',
      () => Buffer.from('<!doctype html><table><tr><td>a<td>b</table><p title="x">One &amp; two</p>'),
    ],
    ['a.json', () => Buffer.from('{"a": [1, 2.50, {"b": "text"}], "c": null}')],
    ['a.csv', () => Buffer.from('name,"a ""quoted"" cell"\nx,1\ny,2\n')],
    ['a.md', () => Buffer.from('---\ntitle: X\n---\n# One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n')],
    [
      'a.ipynb',
      () => Buffer.from('{"cells": [{"cell_type": "markdown", "source": ["# One"]}], "nbformat": 4}'),
    ],
    [
      'a.eml',
      () =>
        Buffer.from(
          'From: a@b.c\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>One\n--b--\n',
        ),
    ],
    [
      'a.tex',
      () =>
        Buffer.from(
          '\\documentclass{a}\\begin{document}\\section{One}$x^2$ \\begin{tabular}{l}a&b\\end{tabular}\\end{document}',
        ),
    ],
    ['a.srt', () => Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nOne\n')],
  ];

  test.each(documents)('%s cut at twenty places', async (name, make) => {
    const whole = await make();
    for (let i = 0; i < 20; i++) await outcome(name, whole.subarray(0, Math.floor((whole.length * i) / 20)));
    await expectNextIsRead();
  });

  test.each(documents)('%s with random bytes', async (name, make) => {
    const whole = await make();
    let seed = 1;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 10; round++) {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 8; i++) bytes[random(bytes.length)] = random(256);
      await outcome(name, bytes);
    }
    await outcome(name, Buffer.from(Array.from({ length: 4000 }, () => random(256))));
    await expectNextIsRead();
  });

  test.each(
    'doc dot odt ods odp fodt ppt pps xls xlsb msg mbox mht vtt pages numbers key txt py tsv'.split(' '),
  )('random bytes called .%s', async (extension) => {
    let seed = 7;
    const bytes = Array.from({ length: 6000 }, () => (seed = (seed * 48_271) % 2_147_483_647) % 256);
    await outcome(`a.${extension}`, Buffer.from(bytes));
    await outcome(
      `a.${extension}`,
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from(bytes)]),
    );
    await outcome(`a.${extension}`, Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.from(bytes)]));
  });
});

test('a PDF of 5,000 pages', async () => {
  const page = Array.from(
    { length: 30 },
    (_, i) => `BT /F 10 Tf 72 ${780 - 20 * i} Td (Line ${i} of a page of many) Tj ET`,
  );
  const text = await outcome('long.pdf', pdfFile(Array.from({ length: 5000 }, () => page.join('\n'))));
  expect(text.match(/Line 29/g)).toHaveLength(5000);
});
