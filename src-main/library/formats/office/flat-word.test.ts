import { expect, test } from 'vitest';
import { paragraph, part, wordFile } from '../../../testing/office-files.ts';
import { ZipArchive } from '../zip.ts';
import type { ParsedDocument } from '../format.ts';
import { parserOf } from '../formats.ts';

async function read(xml: string, name = 'report.doc'): Promise<ParsedDocument> {
  return (await parserOf('doc'))({ name, bytes: Buffer.from(xml) });
}

const word2003 = (body: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<?mso-application progid="Word.Document"?>
<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:wx="http://schemas.microsoft.com/office/word/2003/auxHint" xmlns:aml="http://schemas.microsoft.com/aml/2001/core">
<w:styles><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>
<w:body><wx:sect>${body}<w:sectPr/></wx:sect></w:body></w:wordDocument>`;

test('a document of Word 2003: headings, lists with their numbers, tables, and what was inserted', async () => {
  const item = (number: string, text: string): string =>
    `<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="1"/><wx:t wx:val="${number}"/></w:listPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const cell = (text: string): string => `<w:tc>${paragraph(text)}</w:tc>`;
  const change = (kind: string, run: string): string =>
    `<aml:annotation aml:id="1" w:type="Word.${kind}"><aml:content><w:r>${run}</w:r></aml:content></aml:annotation>`;
  const { text, headings } = await read(
    word2003(
      `<wx:sub-section><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Ferries &amp; piers</w:t></w:r></w:p></wx:sub-section>
       ${item('1.', 'Blue')}${item('2.', 'Red')}
       <w:p>${change('Insertion', '<w:t>New.</w:t>')}${change('Deletion', '<w:delText>Old.</w:delText>')}</w:p>
       <w:tbl><w:tr>${cell('Pier')}${cell('Hour')}</w:tr><w:tr>${cell('Blue')}${cell('7')}</w:tr></w:tbl>`,
    ),
  );
  expect(headings).toMatchObject([{ level: 1, title: 'Ferries & piers' }]);
  expect(text).toContain('1. Blue');
  expect(text).toContain('2. Red');
  expect(text).toContain('New.');
  expect(text).toContain('- Pier: Blue; Hour: 7');
  expect(text).not.toMatch(/Old|w:|heading/);
});

test('headers, footers, notes and links of a document of Word 2003', async () => {
  const edge = (name: string, type: string, text: string): string =>
    `<w:${name} w:type="${type}">${paragraph(text)}</w:${name}>`;
  const { text } = await read(
    word2003(
      `<w:p><w:r><w:t>Oil</w:t></w:r><w:r><w:footnote>${paragraph('From whales.')}</w:footnote></w:r><w:hlink w:dest="https://a.example"><w:r><w:t> lamps</w:t></w:r></w:hlink></w:p>
       <w:sectPr>${edge('hdr', 'odd', 'Harbour office')}${edge('ftr', 'odd', 'Confidential')}${edge('hdr', 'first', 'Not shown')}</w:sectPr>`,
    ),
  );
  expect(text).toBe('Harbour office\n\nOil[1] lamps\n\n[1] From whales.\n\nConfidential');
});

test('a package in one file is read as the package', async () => {
  const packed = await wordFile(paragraph('The lamp burns oil.'), { styles: part('w:styles', '') });
  const zip = await ZipArchive.open({ name: 'a.docx', bytes: packed });
  const parts = await Promise.all(
    zip.names.map(async (name) => {
      const xml = ((await zip.read(name)) ?? '').toString().replace(/<\?xml[^>]*>/, '');
      return `<pkg:part pkg:name="/${name}" pkg:contentType="application/xml"><pkg:xmlData>${xml}</pkg:xmlData></pkg:part>`;
    }),
  );
  const picture = '<pkg:part pkg:name="/word/a.png"><pkg:binaryData>iVBORw==</pkg:binaryData></pkg:part>';
  const { text } = await read(
    `<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">${parts.join('')}${picture}</pkg:package>`,
  );
  expect(text).toBe('The lamp burns oil.');
});

test('one that is cut off is refused, or read as far as it goes', async () => {
  const whole = word2003(paragraph('Before the cut.') + paragraph('After it.'));
  expect((await read(whole.slice(0, whole.indexOf('After')))).text).toBe('Before the cut.');
  await expect(read('<?xml version="1.0"?><pkg:package xmlns:pkg="a"><pkg:part ')).rejects.toMatchObject({
    code: 'DOCUMENT_UNREADABLE',
  });
});
