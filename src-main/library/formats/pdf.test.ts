import { expect, test } from 'vitest';
import { pdf } from './pdf.ts';

/** A page whose font names one of Adobe's predefined CMaps, and embeds nothing, as many Chinese documents do. */
function chinesePage(text: string): Buffer {
  const hex = Array.from(text, (letter) => letter.charCodeAt(0).toString(16).padStart(4, '0')).join('');
  const content = `BT /F 24 Tf 72 700 Td <${hex}> Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [6 0 R] >>',
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /DW 1000 /FontDescriptor 7 0 R >>',
    '<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>',
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 8 >>\n%%EOF\n`, 'latin1');
}

test('text in a character collection that the document does not bring along', async () => {
  const { text } = await pdf({ name: 'a.pdf', bytes: chinesePage('知识库在本机回答问题') });
  expect(text.trim()).toBe('知识库在本机回答问题');
});
