import { deflateSync, crc32 } from 'node:zlib';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from '@playwright/test';
import { epub, pdf } from '../../../tools/test-documents/documents.ts';
import { links, wordFile } from '../../../src-main/testing/office-files.ts';
import { call, expect } from './test.ts';

/** A sentence that each document has in the middle. */
export const SENTENCE = 'The keeper trims the lamp at dusk, and writes the hour into the red book.';

/** Time for reading them on a busy machine. */
const READ_MS = 120_000;

/**
 * Adds documents of each viewer to a new library; those that can try to load something from `hostile` in every way they have. Resolves once
 * they are read, with the address of each, at the sentence if it has text, by its name.
 */
export async function addViewerDocuments(
  window: Page,
  dir: string,
  hostile: string,
): Promise<Map<string, string>> {
  const names = await writeViewerDocuments(dir, hostile);
  const { id: libraryId } = (await call(window, 'libraries.create', { name: 'Kinds' })) as { id: string };
  await call(window, 'libraries.addPaths', { id: libraryId, paths: names.map((name) => join(dir, name)) });
  const read = async (): Promise<{ id: string; path: string }[]> => {
    const list = { libraryId, offset: 0, limit: 100 };
    const { items } = (await call(window, 'documents.list', list)) as {
      items: { id: string; path: string; phase: string }[];
    };
    return items.filter(({ phase }) => !['waiting', 'reading', 'recognising'].includes(phase));
  };
  await expect.poll(async () => (await read()).length, { timeout: READ_MS }).toBe(names.length);
  const addresses = new Map<string, string>();
  for (const { id, path } of await read()) {
    const { text } = (await call(window, 'documents.text', { id })) as { text: string };
    const start = text.replaceAll('\n', ' ').indexOf(SENTENCE);
    const passage = start < 0 ? '' : `?start=${start}&end=${start + SENTENCE.length}`;
    addresses.set(basename(path), `/document/${id}${passage}`);
  }
  return addresses;
}

async function writeViewerDocuments(dir: string, hostile: string): Promise<string[]> {
  const files: Record<string, string | Buffer> = {
    'plan.pdf': await pdf(pdfPages(), 'The lighthouse plan'),
    'handbook.docx': await word(hostile),
    'page.html': hostilePage(hostile, body()),
    'book.epub': epub([
      { file: 'one.xhtml', html: xhtml('The harbour', paragraphs(0, 6)) },
      { file: 'two.xhtml', html: hostilePage(hostile, `<h1>The keeper</h1>${body()}`) },
    ]),
    'letter.eml': letter(hostile),
    'lamp.png': picture(),
    'tariffs.csv': tariffs(),
    'tide.py': code(),
    'notes.rtf': `{\\rtf1\\ansi {\\b Notes of the keeper}\\par ${SENTENCE}\\par The tide table hangs beside the door.}`,
  };
  mkdirSync(dir, { recursive: true });
  for (const [name, data] of Object.entries(files)) writeFileSync(join(dir, name), data);
  return Object.keys(files);
}

function sentences(from: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, i) =>
      `On day ${from + i + 1} the ${from + i + 1}th ship of the year lay at the north pier, and her captain paid twelve crowns at the red counter before the bell rang for the evening.`,
  );
}

function paragraphs(from: number, count: number): string {
  return sentences(from, count)
    .map((text) => `<p>${text}</p>`)
    .join('\n');
}

function table(): string {
  const rows = ['North pier|40|12 m', 'South mole|25|8 m', 'Inner basin|18|5 m'].map(
    (row) =>
      `<tr>${row
        .split('|')
        .map((cell) => `<td>${cell}</td>`)
        .join('')}</tr>`,
  );
  return `<table><tr><th>Berth</th><th>Crowns</th><th>Depth</th></tr>${rows.join('')}</table>`;
}

function body(): string {
  return `<h2>Tariffs</h2>${table()}<ul><li>Bring the papers of the ship.</li><li>Pay before <b>seven</b>.</li></ul>
    <h2>Days of the harbour</h2>${paragraphs(0, 14)}<blockquote><p>${SENTENCE}</p></blockquote>${paragraphs(14, 14)}`;
}

function xhtml(title: string, content: string): string {
  return `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>${title}</title></head><body><h1>${title}</h1>${content}</body></html>`;
}

/** Every way of a page to load something or to run a script. */
function hostilePage(to: string, content: string): string {
  return `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>The harbour office</title>
    <meta http-equiv="refresh" content="0;url=${to}/refresh"/><base href="${to}/base/"/>
    <link rel="stylesheet" href="${to}/sheet.css"/><link rel="preload" as="image" href="${to}/preload.png"/>
    <style>@import url(${to}/import.css); @font-face { font-family: F; src: url(${to}/font.woff) } body { font-family: F; background: url(${to}/background.png) }</style>
    <script src="${to}/script.js"></script><script>fetch('${to}/fetch'); new Image().src = '${to}/image.png'</script></head>
    <body onload="fetch('${to}/load')">${content}
    <img src="${to}/picture.png" srcset="${to}/set.png 2x" alt="The lamp of the north pier" onerror="fetch('${to}/error')"/>
    <iframe src="${to}/frame"></iframe><object data="${to}/object"></object><embed src="${to}/embed"/>
    <video src="${to}/video" poster="${to}/poster.png" autoplay="autoplay"></video>
    <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${to}/svg.png" href="${to}/svg.png"/><script>fetch('${to}/svg')</script></svg>
    <form action="${to}/form"><input type="image" src="${to}/input.png"/></form>
    <p style="background: url(${to}/inline.png)">The last line of the page.</p></body></html>`;
}

function letter(to: string): string {
  return [
    'From: Mara Lind <mara@example.com>',
    'To: Jon Vik <jon@example.com>',
    'Subject: The lamp of the north pier',
    'Date: Mon, 2 Nov 2026 18:05:00 +0100',
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; boundary=part',
    '',
    '--part',
    'Content-Type: text/html; charset=utf-8',
    '',
    hostilePage(
      to,
      `<p>Dear Jon,</p><p>${SENTENCE}</p><p><img src="cid:lamp" alt="The lamp"/></p>${table()}<p>Mara</p>`,
    ),
    '--part',
    'Content-Type: image/png',
    'Content-ID: <lamp>',
    'Content-Transfer-Encoding: base64',
    '',
    picture(160, 60).toString('base64'),
    '--part--',
    '',
  ].join('\r\n');
}

function word(to: string): Promise<Buffer> {
  const run = (text: string, properties = ''): string =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const line = (text: string, style = ''): string =>
    `<w:p>${style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}${run(text)}</w:p>`;
  const cell = (text: string): string => `<w:tc>${line(text)}</w:tc>`;
  const row = (...cells: string[]): string => `<w:tr>${cells.map(cell).join('')}</w:tr>`;
  const drawing = (how: string, id: string): string =>
    `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="p" descr="The lamp"/><a:graphic><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:${how}="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
  const content = [
    line('Harbour handbook', 'Heading1'),
    `<w:p>${run('The harbour office opens at ')}${run('seven', '<w:b/>')}${run('. Every ship pays at the ')}${run('red', '<w:i/>')}${run(' counter.')}</w:p>`,
    drawing('embed', 'lamp'),
    `<w:tbl>${row('Berth', 'Crowns')}${row('North pier', '40')}${row('South mole', '25')}</w:tbl>`,
    line('Days of the harbour', 'Heading2'),
    ...sentences(0, 12).map((text) => line(text)),
    line(SENTENCE),
    ...sentences(12, 12).map((text) => line(text)),
    drawing('link', 'outside'),
    `<w:p><w:hyperlink r:id="web">${run('A link to the web')}</w:hyperlink></w:p>`,
  ];
  const style = (id: string, name: string): string =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr><w:outlineLvl w:val="${Number(id.slice(-1)) - 1}"/></w:pPr></w:style>`;
  const relationships = links({
    styles: ['styles', 'styles.xml'],
    lamp: ['image', 'media/lamp.png'],
  }).replace(
    '</Relationships>',
    ['image', 'hyperlink']
      .map(
        (type) =>
          `<Relationship Id="${type === 'image' ? 'outside' : 'web'}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${to}/word-${type}.png" TargetMode="External"/>`,
      )
      .join('') + '</Relationships>',
  );
  return wordFile(
    content.join(''),
    {},
    {
      '[Content_Types].xml':
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="png" ContentType="image/png"/><Default Extension="xml" ContentType="application/xml"/></Types>',
      'word/_rels/document.xml.rels': relationships,
      'word/media/lamp.png': picture(320, 120),
      'word/styles.xml': `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${style('Heading1', 'heading 1')}${style('Heading2', 'heading 2')}</w:styles>`,
    },
  );
}

function pdfPages(): string[][] {
  const wrap = (text: string): string[] => text.match(/.{1,86}(?:\s|$)/g)?.map((line) => line.trim()) ?? [];
  const page = (number: number): string[] => [
    `The lighthouse plan, page ${number}`,
    '',
    ...sentences(number * 10, 8).flatMap((text) => [...wrap(text), '']),
  ];
  const third = page(3);
  third.splice(12, 0, ...wrap(SENTENCE), '');
  return [page(1), page(2), third, page(4)];
}

/** A PNG with a beam of light. */
function picture(width = 900, height = 600): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(data.length);
    head.write(type, 4, 'latin1');
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])));
    return Buffer.concat([head, data, sum]);
  };
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const light = Math.abs(y - height / 2) < (x / width) * (height / 3) ? 190 : 40;
      rows.set([light, light - 10, 60 + (y / height) * 90], y * (width * 3 + 1) + 1 + x * 3);
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function tariffs(): string {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const note = i === 30 ? `"${SENTENCE}"` : '';
    return `Berth ${i + 1},${20 + ((i * 7) % 30)},${(4 + (i % 9) / 2).toFixed(1)} m,2026-03-${String((i % 28) + 1).padStart(2, '0')},${note}`;
  });
  return ['Berth,Crowns,Depth,Paid until,Note', ...rows].join('\n');
}

function code(): string {
  const functions = Array.from(
    { length: 60 },
    (_, i) =>
      `def berth_${i}(length):\n    """Metres of quay that ship ${i} needs."""\n    return length * 1.${i}\n`,
  );
  functions.splice(30, 0, `# ${SENTENCE}\n`);
  return functions.join('\n');
}
