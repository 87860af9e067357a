/** Text recognition in the real process, which may open no connection, and in this one, where attempts would be seen. */
import dgram from 'node:dgram';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { formatOf } from '../../src-main/library/formats/formats.ts';
import { ParserProcess } from '../../src-main/library/parser/parser-process.ts';
import { recognisePage } from '../../src-main/library/recognition/recognise.ts';
import { errorRate } from '../../src-main/testing/error-rate.ts';
import { pdfFile } from '../../src-main/testing/pdf-file.ts';

const PAGES = join(import.meta.dirname, 'pages');
const EN =
  'Before you switch the coffee machine on for the first time, rinse the tank and the filter basket with warm water. Fill the tank up to the mark “MAX” (1.8 litres), close the lid and place an empty jug under the spout. Press the button for three seconds; the green light blinks while the pump fills the pipes, which takes about 40 seconds.';
const DE =
  'Die Gemeindeversammlung von Niederlößnitz beschloss am 7. Oktober 2022, die Straßenbeleuchtung in der Altstadt vollständig zu erneuern. Bürgermeisterin Annegret Müller-Böhme erläuterte, dass die bisherigen Natriumdampflampen jährlich rund 68.400 Kilowattstunden verbrauchen, während die neuen Leuchten mit höchstens 21.900 Kilowattstunden auskämen.';
const ZH =
  '云湖县水务局于二〇二三年三月十四日召开会议，讨论老水库的维修费用问题。局长李文华主持会议，并指出二〇一九年的检查发现十二面支撑墙中有七面出现裂缝，必须尽快处理。';

const JPEG = readFileSync(join(PAGES, 'de.jpg'));
const PICTURE = [
  '/Type /XObject /Subtype /Image /Width 1360 /Height 300 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode',
  JPEG.toString('latin1'),
] as const;
/** A PDF with one page of text, and a scan that is placed by a matrix. */
const scanned = (matrix: string) =>
  pdfFile(
    [
      'BT /F 12 Tf 72 700 Td (The first page has a text.) Tj ET',
      { content: `q ${matrix} cm /Scan Do Q`, resources: '/XObject << /Scan 10 0 R >>' },
    ],
    { objects: [PICTURE] },
  );

let parser: ParserProcess;
beforeAll(() => {
  parser = new ParserProcess();
});
afterAll(() => parser.close());

function requestOf(name: string, bytes: Buffer = readFileSync(join(PAGES, name))) {
  return { path: '', name, bytes, format: formatOf(name), maxBytes: 100_000_000 };
}

test.each([
  ['a clean PNG with a palette', 'en.png', 0, EN, 'en'],
  ['a noisy JPEG', 'de.jpg', 0, DE, 'de'],
  ['WebP', 'zh.webp', 0, ZH, 'zh'],
  ['HEIC', 'en.heic', 0, EN, 'en'],
  ['the first page of a TIFF fax', 'two.tif', 0, EN, 'en'],
  ['its second page', 'two.tif', 1, ZH, 'zh'],
] as const)('%s', async (_, name, page, truth, language) => {
  const request = requestOf(name);
  const { document } = (await parser.do<'parse'>({ work: 'parse', ...request, knownSha256: undefined }))
    .result;
  expect(document?.pages[page]).toMatchObject({ label: String(page + 1), confidence: null });
  const found = (await parser.recognise({ ...request, page, sha256: '' })).page;
  expect(errorRate(truth, found?.text ?? '', language)).toBeLessThan(0.03);
  expect(found?.confidence).toBeGreaterThan(80);
  for (const [start, end, left, top, right, bottom] of found?.words ?? []) {
    expect(found?.text.slice(start, end)).toMatch(/^\S+$/);
    expect(left < right && top < bottom && right <= 65_535 && bottom <= 65_535).toBe(true);
  }
});

test.each([
  ['upright', '500 0 0 110 40 600'],
  ['upside down', '-500 0 0 -110 540 710'],
  ['on its side', '0 500 -110 0 300 200'],
])('a scan in a PDF: %s', async (_, matrix) => {
  const request = requestOf('a.pdf', scanned(matrix));
  const { result } = await parser.do<'parse'>({ work: 'parse', ...request, knownSha256: undefined });
  expect(result.document?.pages.map(({ confidence }) => confidence)).toEqual([undefined, null]);
  const found = (await parser.recognise({ ...request, page: 1, sha256: '' })).page;
  expect(errorRate(DE, found?.text ?? '', 'de')).toBeLessThan(0.1);
});

test('a photo is turned as the camera was held, and so are the places of its words', async () => {
  const { page: found } = await parser.recognise({ ...requestOf('turned.jpg'), page: 0, sha256: '' });
  expect(errorRate(EN, found?.text ?? '', 'en')).toBeLessThan(0.03);
  const [, , left, top, right, bottom] = found?.words[0] ?? [0, 0, 0, 0, 0, 0];
  expect([left, top, right, bottom].map((each) => each < 65_535 / 3)).toEqual([true, true, true, true]);
});

test('a file that has changed is not recognised', async () => {
  expect(await parser.recognise({ ...requestOf('en.png'), page: 0, sha256: 'of another version' })).toEqual(
    {},
  );
});

/** A grey PNG without content. */
function blankPng(side: number) {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side);
  head.writeUInt32BE(side, 4);
  head[8] = 1; // bit
  const rows = deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

test.each([
  ['a cut-off JPEG', 'a.jpg', JPEG.subarray(0, 300)],
  ['a picture of 400 million pixels', 'a.png', blankPng(20_000)],
  ['a broken HEIC file', 'a.heic', Buffer.from('\0\0\0\x18ftypheic and nothing else')],
  ['a PDF without that page', 'a.pdf', pdfFile([''])],
])('%s costs this page only', async (_, name, bytes) => {
  const page = name === 'a.pdf' ? 7 : 0;
  const failed = parser.recognise({ ...requestOf(name, bytes), page, sha256: '' });
  await expect(failed).rejects.toMatchObject({ code: expect.stringMatching(/^DOCUMENT_/) as string });
  const { page: next } = await parser.recognise({ ...requestOf('en.png'), page: 0, sha256: '' });
  expect(next?.text).toContain('coffee machine');
});

test('a page without text', async () => {
  const blank = requestOf('a.png', blankPng(200));
  expect(await parser.recognise({ ...blank, page: 0, sha256: '' })).toEqual({
    page: { text: '', confidence: 0, words: [] },
  });
});

test('no connection is opened', async () => {
  const spies = [
    vi.spyOn(net.Socket.prototype, 'connect'),
    vi.spyOn(dgram, 'createSocket'),
    vi.spyOn(globalThis, 'fetch'),
  ];
  for (const name of ['en.png', 'en.heic', 'two.tif']) {
    const bytes = readFileSync(join(PAGES, name));
    expect((await recognisePage({ name, bytes }, formatOf(name), 0)).text).toContain('coffee machine');
  }
  const bytes = scanned('500 0 0 110 40 600');
  expect((await recognisePage({ name: 'a.pdf', bytes }, 'pdf', 1)).text).toContain('Altstadt');
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});
