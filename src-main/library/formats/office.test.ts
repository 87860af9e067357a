import { expect, test } from 'vitest';
import { compoundFile, oldSlidesFile, oldWordFile, record } from '../../testing/compound-files.ts';
import { archive, paragraph, wordFile } from '../../testing/office-files.ts';
import type { ParsedDocument } from './format.ts';
import { isDocument, parserOf } from './formats.ts';

async function read(bytes: Buffer, name: string): Promise<ParsedDocument> {
  return (await parserOf(name.replace(/^.*\./, '')))({ name, bytes });
}

/** Text with the ends of its parts. */
function upTo(text: string, ...parts: string[]): number[] {
  return parts.map((part) => text.indexOf(part) + part.length);
}

test('a document of 1997, whatever its name: headings, tables, notes, hidden and deleted text', async () => {
  const body =
    'Rent\rIt is \x13 REF x \x14840\x15\x02 crowns, secret old new.\rTown\x07Bridges\x07\x07Orm\x077\x07\x07End\r';
  const text = `${body}Note\rNo\rLease \x13 PAGE \x143\x15\r`;
  const [heading = 0, plain = 0, row = 0, rowEnd = 0, second = 0, secondEnd = 0, end = 0] = upTo(
    text,
    'Rent\r',
    'new.\r',
    'Bridges\x07',
    'Bridges\x07\x07',
    '7\x07',
    '7\x07\x07',
    'End\r',
  );
  const [secret = 0, secretEnd = 0, old = 0, oldEnd = 0, newEnd = 0] = upTo(
    text,
    'crowns, ',
    'secret',
    'secret ',
    'old',
    'new',
  );
  const notes = body.length;
  const bytes = oldWordFile({
    text,
    lengths: { body: body.length, footnotes: 8, headers: text.length - body.length - 8 },
    runs: [
      [secret, ''],
      [secretEnd, '3c0801'],
      [old, ''],
      [oldEnd, '000801'],
      [oldEnd + 1, ''],
      [newEnd, '010801'],
      [text.length, ''],
    ],
    paragraphs: [
      [heading, 1],
      [plain, 0],
      [row, 0, '162401'],
      [rowEnd, 0, '162401172401'],
      [second, 0, '162401'],
      [secondEnd, 0, '162401172401'],
      [end, 0],
      [text.length, 0],
    ],
    footnotes: { references: [body.indexOf('\x02')], bounds: [0, 5, 8] },
    headers: [0, 0, 0, 0, 0, 0, 0, 0, text.length - notes - 8],
  });
  const { text: shown, headings, warnings } = await read(bytes, 'lease.docx');
  expect(shown).toBe(
    'Lease\n\n# Rent\n\nIt is 840[1] crowns, new.\n\n[1] Note\n\n- Town: Orm; Bridges: 7\n\nEnd',
  );
  expect(headings?.map(({ title }) => title)).toEqual(['Rent']);
  expect(warnings).toEqual([
    'Tracked changes were read as accepted: 1 insertion, 1 deletion.',
    'Hidden text was left out: 1 piece.',
  ]);
});

test('automatic numbers of a document of 1997', async () => {
  const text = 'Rent\rgate\rlock\r';
  const level = (format: number, letters: string): string =>
    `01000000${format.toString(16).padStart(2, '0')}${'00'.repeat(23)}` +
    Buffer.from([letters.length, 0]).toString('hex') +
    Buffer.from(letters, 'utf16le').toString('hex');
  const bytes = oldWordFile({
    text,
    lengths: { body: text.length },
    paragraphs: [
      [5, 1, '0b460100'],
      [text.length, 0, '0b4601000a2601'],
    ],
    lists: `010007000000${'00'.repeat(24)}` + level(0, '\x00.') + level(4, '(\x01)') + level(0, '').repeat(7),
    instances: `0100000007000000${'00'.repeat(12)}ffffffff`,
  });
  expect((await read(bytes, 'a.doc')).text).toBe('# 1. Rent\n\n(a) gate\n(b) lock');
});

test('a presentation of 1997: titles, texts, notes and hidden slides', async () => {
  const numbers = (...list: number[]): Buffer => Buffer.from(Uint32Array.from(list).buffer);
  const words = (kind: number, text: string): Buffer[] => [
    record(0x0f9f, numbers(kind)),
    record(0x0fa0, Buffer.from(text, 'utf16le')),
  ];
  const listed = (object: number, id: number): Buffer => record(0x03f3, numbers(object, 0, 0, id, 0));
  const document = record(0x03e8, [
    record(0x0ff0, [listed(2, 256), ...words(0, 'Water'), listed(3, 257), ...words(6, 'Old')], 0),
    record(0x0ff0, [listed(4, 300)], 2),
  ]);
  const string = (text: string, instance: number): Buffer =>
    record(0x0fba, Buffer.from(text, 'utf16le'), instance);
  const comment = record(0x2ee0, [string('Ida', 0), string('Why?', 1)]);
  const tags = record(0x1388, [record(0x138a, [record(0x138b, comment)])]);
  const slide = record(0x03ee, [
    tags,
    record(0x040c, [record(0xf00d, words(4, 'The Esk\x0brose.\rTwice.'))]),
  ]);
  const hidden = record(0x03ee, [record(0x03f9, Buffer.from('00000000000000000000040000000000', 'hex'))]);
  const notes = record(0x03f0, [record(0x03f1, numbers(256, 0)), ...words(2, 'Say so')]);
  const file = oldSlidesFile([document, slide, hidden, notes]);
  const { text, warnings } = await read(file, 'a.ppt');
  expect(text).toBe(
    '## Water\n\nThe Esk\nrose.\n\nTwice.\n\nNotes: Say so\n\n[Comment by Ida: Why?]\n\n## Old\n\n(Hidden slide)',
  );
  expect(warnings).toEqual(['Hidden slides were read and are marked: 2.']);
  await expect(read(oldSlidesFile([document], 0xf3d1c4df), 'a.ppt')).rejects.toMatchObject({
    code: 'DOCUMENT_ENCRYPTED',
  });
});

test('passwords and damage of compound files', async () => {
  const code = (bytes: Buffer): Promise<unknown> =>
    read(bytes, 'a.doc').then(
      () => 'read',
      (error: unknown) => (error as { code?: string }).code,
    );
  expect(
    await code(compoundFile({ EncryptedPackage: Buffer.alloc(9), EncryptionInfo: Buffer.alloc(9) })),
  ).toBe('DOCUMENT_ENCRYPTED');
  expect(await code(oldWordFile({ text: 'x\r', lengths: { body: 2 }, flags: 0x100 }))).toBe(
    'DOCUMENT_ENCRYPTED',
  );
  expect(await code(compoundFile({ WordDocument: Buffer.alloc(2000), '0Table': Buffer.alloc(20) }))).toBe(
    'DOCUMENT_UNREADABLE',
  );
  const slides95 = compoundFile({
    'PowerPoint Document': Buffer.alloc(90),
    'Current User': Buffer.from('\x0b\0\0\0Ida'),
  });
  await expect(read(slides95, 'a.ppt')).rejects.toThrow('it is of a version of PowerPoint before 1997');
  const word2 = Buffer.concat([Buffer.from('dba52d00', 'hex'), Buffer.alloc(600)]);
  await expect(read(word2, 'a.doc')).rejects.toThrow('it is of a version of Word before 1997');
  const perfect = Buffer.concat([Buffer.from('ff575043', 'hex'), Buffer.alloc(600)]);
  await expect(read(perfect, 'a.doc')).rejects.toThrow('it is a document of WordPerfect');
  const gbk = Buffer.concat([Buffer.from('dba5', 'hex'), Buffer.from('cef7d3d0d2bbd7f9c4a5b7bba1a3', 'hex')]);
  expect((await read(gbk, 'a.doc')).text).toBe('邾西有一座磨坊。'); // text with the same first bytes
  expect(await code(compoundFile({ Other: Buffer.alloc(9) }))).toBe('DOCUMENT_UNREADABLE');
  expect(await code(oldWordFile({ text: 'x\r', lengths: { body: 2 } }).subarray(0, 700))).toBe(
    'DOCUMENT_UNREADABLE',
  );
});

test('documents are told apart by their bytes', async () => {
  expect((await read(await wordFile(paragraph('From Word')), 'a.rtf')).text).toBe('From Word');
  expect((await read(Buffer.from('<html><body><p>Saved as a page'), 'a.doc')).text).toBe('Saved as a page');
  expect((await read(Buffer.from('Plain words'), 'a.doc')).text).toBe('Plain words');
  const key = '-----BEGIN PRIVATE KEY-----\nAAAA';
  await expect(read(Buffer.from(key), 'server.key')).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
  expect(['server.key', 'a.pages', 'a.docm'].map(isDocument)).toEqual([false, true, true]);
});

test('Pages and Keynote without a preview are refused with advice', async () => {
  const bytes = await archive({ 'Index/Document.iwa': 'x', 'preview.jpg': 'x' });
  await expect(read(bytes, 'a.pages')).rejects.toMatchObject({ code: 'DOCUMENT_UNSUPPORTED' });
});

test('a web page saved as one file, under the name of a Word document', async () => {
  const page =
    'From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n' +
    '--b\r\nContent-Type: text/html\r\n\r\n<h1>Rent</h1><p>840 crowns</p>\r\n--b--\r\n';
  expect((await read(Buffer.from(page), 'a.doc')).text).toBe('# Rent\n\n840 crowns');
});
