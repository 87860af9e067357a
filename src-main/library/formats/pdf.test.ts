import { expect, test } from 'vitest';
import { encryptedPdf } from '../../testing/encrypted-pdf.ts';
import { pdfFile } from '../../testing/pdf-file.ts';
import { parserOf } from './formats.ts';
import { pdf } from './pdf.ts';

/** A page whose font uses one of Adobe's predefined CMaps and embeds nothing, as in many Chinese documents. */
function chinesePage(lines: readonly string[], direction: 'H' | 'V' = 'H'): Buffer {
  const hex = (text: string): string =>
    Array.from(text, (letter) => letter.charCodeAt(0).toString(16).padStart(4, '0')).join('');
  const content = lines
    .map((text, i) => `BT /F 24 Tf ${(direction === 'H' ? 72 : 500) - 36 * i} 700 Td <${hex(text)}> Tj ET`)
    .join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-${direction} /DescendantFonts [6 0 R] >>`,
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /DW 1000 /FontDescriptor 7 0 R >>',
    '<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>',
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 8 >>\n%%EOF\n`, 'latin1');
}

test('text in a character collection that the document does not bring along', async () => {
  const { text } = await pdf({ name: 'a.pdf', bytes: chinesePage(['知识库在本机回答问题']) });
  expect(text.trim()).toBe('知识库在本机回答问题');
});

test('vertical text: columns from right to left', async () => {
  const { text } = await pdf({ name: 'a.pdf', bytes: chinesePage(['知识库在本机', '回答问题。'], 'V') });
  expect(text).toBe('知识库在本机\n回答问题。');
});

test('a document for the holder of a certificate', async () => {
  const bytes = pdfFile([''], { trailer: '/Encrypt << /Filter /Adobe.PubSec /V 4 >> /ID [<00> <00>]' });
  const parsed = Promise.resolve(pdf({ name: 'a.pdf', bytes }));
  await expect(parsed).rejects.toMatchObject({ code: 'DOCUMENT_ENCRYPTED' });
  await expect(parsed).rejects.toThrow('certificate');
});

/** A page of lines in Helvetica, each with its size and its distance from the page's lower edge. */
function page(lines: readonly (readonly [size: number, y: number, text: string])[]): Buffer {
  const content = lines.map(([size, y, text]) => `BT /F ${size} Tf 72 ${y} Td (${text}) Tj ET`).join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 6 >>\n%%EOF\n`, 'latin1');
}

test('a heading that wraps keeps its second line; a numbered one stays separate', async () => {
  const bytes = page([
    [20, 760, '6.8 Managing the power of the'],
    [20, 736, 'system'],
    [20, 712, '6.9 Fans'],
    [10, 690, 'Most of the text is in small letters, and there is much more of it than of headings.'],
    [10, 678, 'It goes on for another line, so that the most common size is that of these two lines.'],
    [20, 620, '6.10 Doors'],
    [10, 600, 'Doors are closed by hand.'],
  ]);
  const { headings } = await pdf({ name: 'a.pdf', bytes });
  expect(headings?.map(({ title }) => title)).toEqual([
    '6.8 Managing the power of the system',
    '6.9 Fans',
    '6.10 Doors',
  ]);
});

test('an empty file is empty, not damaged, whatever it calls itself', async () => {
  for (const format of ['pdf', 'docx', 'xlsx', 'pptx', 'epub', 'txt', 'html', 'csv']) {
    const parse = await parserOf(format);
    const parsed = Promise.resolve().then(() => parse({ name: `a.${format}`, bytes: Buffer.alloc(0) }));
    await expect(parsed).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
  }
});

test.each(['RC4-40', 'RC4-128', 'AES-128', 'AES-256-R5', 'AES-256-R6'] as const)(
  'encrypted by %s with an empty password',
  async (encryption) => {
    const bytes = encryptedPdf(encryption, 'The ferry leaves at six.');
    expect(bytes.includes('ferry')).toBe(false);
    expect((await pdf({ name: 'a.pdf', bytes })).text).toBe('The ferry leaves at six.');
  },
);
