import { expect, test } from 'vitest';
import { archive, chart, diagram, links, paragraph, part, wordFile } from '../../../testing/office-files.ts';
import type { ParsedDocument } from '../format.ts';
import { parserOf } from '../formats.ts';

const p = paragraph;
const changed = 'w:id="1" w:author="A"';

async function read(bytes: Buffer, name = 'a.docx'): Promise<ParsedDocument> {
  return (await parserOf(name.replace(/^.*\./, '')))({ name, bytes });
}

async function textOf(
  body: string,
  parts?: Record<string, string>,
  others?: Record<string, string | Buffer>,
): Promise<string> {
  return (await read(await wordFile(body, parts, others))).text;
}

const level = (i: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${i}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
const item = (i: number, list = 1): string =>
  `<w:numPr><w:ilvl w:val="${i}"/><w:numId w:val="${list}"/></w:numPr>`;
const numbering = part(
  'w:numbering',
  `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1', '<w:pStyle w:val="H1"/>')}${level(1, 'decimal', '%1.%2', '<w:pStyle w:val="H2"/>')}${level(2, 'lowerLetter', '(%3)')}${level(3, 'lowerRoman', '%4.')}</w:abstractNum>
   <w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '·')}${level(1, 'upperRoman', 'Art. %2', '<w:isLgl/>')}</w:abstractNum>
   <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
   <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="2"><w:startOverride w:val="4"/></w:lvlOverride></w:num>`,
);
const style = (id: string, name: string, properties: string): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr>${properties}</w:pPr></w:style>`;
const styles = part(
  'w:styles',
  `${style('H1', 'heading 1', '<w:numPr><w:numId w:val="1"/></w:numPr>')}${style('H2', 'heading 2', '<w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/>')}
   ${style('T', 'Title', '')}<w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="Own"/><w:basedOn w:val="H2"/></w:style>`,
);
const styled = (id: string): string => `<w:pStyle w:val="${id}"/>`;

test('headings, clauses and items have the numbers that Word shows', async () => {
  const body = [
    p('Lease', styled('T')),
    p('Rent', styled('H1')),
    p('Amount', styled('H2')),
    p('Ending', styled('H1')),
    p('Notice', styled('Sub')),
    p('roof', item(2)),
    p('cellar', item(2)),
    p('cold', item(3)),
    p('gate', item(2, 3)),
    p('', item(2)),
    p('door', item(2)),
    p('plain', `${styled('H2')}<w:numPr><w:numId w:val="0"/></w:numPr>`),
    p('one', item(0, 2)),
    p('two', item(1, 2)),
  ].join('');
  const { text, headings, title } = await read(await wordFile(body, { styles, numbering }));
  expect(text).toBe(
    '# Lease\n\n# 1 Rent\n\n## 1.1 Amount\n\n# 2 Ending\n\n## 2.1 Notice\n\n(a) roof\n(b) cellar\ni. cold\n(d) gate\n(f) door\n\n## plain\n\n- one\nArt. I two',
  );
  expect(title).toBe('Lease');
  for (const heading of headings ?? [])
    expect(text.slice(heading.start)).toMatch(new RegExp(`^#+ ${heading.title}\n`));
});

test('numbers that count others which do not occur, and levels without numbers', async () => {
  const level = (at: number, format: string, text: string): string =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const levels =
    level(0, 'decimal', '%1') +
    level(1, 'lowerLetter', '%1.%2') +
    level(2, 'upperRoman', '%1.%2.%3') +
    level(3, 'none', '%1.%4') +
    level(4, 'bullet', '·') +
    level(5, 'decimal', '%1.%5.%6');
  const list = part(
    'w:numbering',
    `<w:abstractNum w:abstractNumId="0">${levels}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
  );
  const body = [0, 2, 1, 3, 5].map((at) => p('x', item(at))).join('');
  const { text } = await read(await wordFile(body, { numbering: list }));
  expect(text.split('\n').map((line) => line.trim())).toEqual(['1 x', '1.a.I x', '1.b x', '1. x', '1..1 x']);
});

test('tracked changes are read as accepted, and told', async () => {
  const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
  const body = `<w:p><w:r><w:t xml:space="preserve">Runs </w:t></w:r><w:del ${changed}><w:r><w:delText>ten</w:delText></w:r></w:del><w:ins ${changed}>${run('six')}</w:ins></w:p>
    <w:p><w:moveFrom ${changed}>${run('The deposit.')}</w:moveFrom></w:p>
    <w:p><w:pPr><w:rPr><w:del ${changed}/></w:rPr></w:pPr>${run('Joined')}</w:p><w:p><w:r><w:t xml:space="preserve"> lines</w:t></w:r></w:p>
    <w:p><w:moveTo ${changed}>${run('The deposit.')}</w:moveTo></w:p>
    <w:tbl><w:tr><w:trPr><w:del ${changed}/></w:trPr><w:tc>${p('gone')}</w:tc></w:tr><w:tr><w:tc>${p('stays')}</w:tc></w:tr></w:tbl>`;
  const { text, warnings } = await read(await wordFile(body));
  expect(text).toBe('Runs six\n\nJoined lines\n\nThe deposit.\n\nstays');
  expect(warnings).toEqual(['Tracked changes were read as accepted: 1 insertion, 2 deletions, 1 move.']);
});

test('hidden text is left out, also by a style, and told', async () => {
  const hidden = (value: string): string => `<w:r><w:rPr><w:vanish${value}/></w:rPr><w:t>secret</w:t></w:r>`;
  const hiding = part(
    'w:styles',
    '<w:style w:styleId="X"><w:name w:val="X"/><w:rPr><w:vanish/></w:rPr></w:style>',
  );
  const body = `<w:p>${hidden('')}</w:p><w:p>${hidden(' w:val="0"')}</w:p>${p('also', styled('X'))}${p('seen')}`;
  const { text, warnings } = await read(await wordFile(body, { styles: hiding }));
  expect(text).toBe('secret\n\nseen');
  expect(warnings).toEqual(['Hidden text was left out: 2 pieces.']);
});

test('tables: merged cells, nested tables, frames and several header rows', async () => {
  const cell = (text: string, properties = ''): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${text.startsWith('<') ? text : p(text)}</w:tc>`;
  const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`;
  const head = (...cells: string[]): string =>
    `<w:tr><w:trPr><w:tblHeader/></w:trPr>${cells.join('')}</w:tr>`;
  const start = '<w:vMerge w:val="restart"/>';
  const merged = `<w:tbl>${row(cell('Town'), cell('Bridges'))}${row(cell('Orm', start), cell('7'))}${row(cell('', '<w:vMerge/>'), cell('3'))}</w:tbl>`;
  expect(await textOf(merged)).toBe('- Town: Orm; Bridges: 7\n- Town: Orm; Bridges: 3');
  const wide = `<w:tbl>${row(cell('Town'), cell('2024'), cell('2025'))}${row(cell('North', '<w:gridSpan w:val="3"/>'))}${row(cell('Orm'), cell('closed', '<w:gridSpan w:val="2"/>'))}${row(cell('Esk'), cell('5'), cell('7'))}</w:tbl>`;
  expect(await textOf(wide)).toBe(
    '- Town: North\n- Town: Orm; 2024: closed; 2025: closed\n- Town: Esk; 2024: 5; 2025: 7',
  );
  const years = `<w:tbl>${head(cell('Town', start), cell('2024', '<w:gridSpan w:val="2"/>'))}${head(cell('', '<w:vMerge/>'), cell('Spring'), cell('Autumn'))}${row(cell('Orm'), cell('7'), cell('9'))}</w:tbl>`;
  expect(await textOf(years)).toBe('- Town: Orm; 2024 Spring: 7; 2024 Autumn: 9');
  const nested = `<w:tbl>${row(cell('Town'), cell('Counts'))}${row(cell('Orm'), cell(`${merged}<w:p/>`))}</w:tbl>`;
  expect(await textOf(nested)).toBe('- Town: Orm; Counts: (Town: Orm; Bridges: 7 / Town: Orm; Bridges: 3)');
  expect(await textOf(`<w:tbl>${row(cell(p('One') + p('Two')))}</w:tbl>`)).toBe('One\n\nTwo');
});

test('formulas, charts, diagrams and text boxes, each once', async () => {
  const math = (inner: string): string => `<m:oMath>${inner}</m:oMath>`;
  const run = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
  const squared = `<m:sSup><m:e>${run('w')}</m:e><m:sup>${run('2')}</m:sup></m:sSup>`;
  const fraction = `<m:f><m:num>${run('a')}</m:num><m:den>${run('b+1')}</m:den></m:f>`;
  const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${run('i=1')}</m:sub><m:sup>${run('n')}</m:sup><m:e>${run('i')}</m:e></m:nary>`;
  const drawing = (inner: string): string =>
    `<w:r><w:drawing><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></w:drawing></w:r>`;
  const box = `<w:txbxContent>${p('Boxed')}</w:txbxContent>`;
  const body = `<w:p>${math(run('L=0.37v') + squared)}</w:p><w:p>${math(fraction + sum)}</w:p>
    <w:p><w:r><w:t>Below</w:t></w:r>${drawing('<c:chart r:id="chart1"/>')}${drawing('<dgm:relIds r:dm="diagramData1"/>')}
    <w:r><mc:AlternateContent><mc:Choice><w:drawing>${box}</w:drawing></mc:Choice><mc:Fallback><w:pict>${box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>
    <w:p><w:r><w:object><o:OLEObject xmlns:o="o" ProgID="Equation.3"/></w:object></w:r></w:p>`;
  const parts = {
    chart1: chart('Rain', { March: '0.73', April: '0.41' }, '0%'),
    diagramData1: diagram(['Gate'], ['Shut it', 0]),
  };
  const { text, warnings } = await read(await wordFile(body, parts));
  expect(text).toBe(
    '$L=0.37vw^2$\n\n$\\frac{a}{b+1}\\sum_{i=1}^n i$\n\nBelow\n\nChart: Rain\n- March: 73%\n- April: 41%\n\nDiagram:\n- Gate\n  - Shut it\n\nBoxed',
  );
  expect(warnings).toEqual(['Embedded objects were left out: Equation.3.']);
});

test('what pictures are described as, once, unless that only names a file', async () => {
  const picture = (own: string): string =>
    `<a:graphic><a:graphicData><pic:pic xmlns:pic="pic"><pic:nvPicPr><pic:cNvPr id="1" name="Picture 1" descr="${own}"/></pic:nvPicPr></pic:pic></a:graphicData></a:graphic>`;
  const inline = (description: string, inner: string): string =>
    `<w:r><w:drawing><wp:inline xmlns:wp="wp"><wp:docPr id="1" name="Picture 1" descr="${description}"/>${inner}</wp:inline></w:drawing></w:r>`;
  const body = `<w:p><w:r><w:t>The mill</w:t></w:r>${inline('Map of Orm&#10;&#10;Description automatically generated', picture('Map of Orm') + picture('The weir'))}</w:p>
    <w:p>${inline('C:\\orm.jpg', picture('image1.png'))}${inline('', picture('A gate'))}</w:p>
    <w:p><w:r><w:pict><v:shape xmlns:v="v" alt="A lamp"><v:imagedata/></v:shape></w:pict></w:r></w:p>`;
  expect(await textOf(body)).toBe('The mill\n\nMap of Orm\n\nThe weir\n\nA gate\n\nA lamp');
});

test('elements and signs of formulas with names that every object has are unknown ones', async () => {
  const run = '<m:r><m:t>x</m:t></m:r>';
  const accent = `<m:acc><m:accPr><m:chr m:val="valueOf"/></m:accPr><m:e>${run}</m:e></m:acc>`;
  const sum = `<m:nary><m:naryPr><m:chr m:val="toString"/></m:naryPr><m:e>${run}</m:e></m:nary>`;
  const formula = `<m:oMath><m:constructor>${run}</m:constructor>${accent}${sum}</m:oMath>`;
  expect(await textOf(`<w:p>${formula}</w:p>`)).toBe('$x\\hat{x}toString x$');
});

test('footnotes, endnotes and comments follow their paragraph', async () => {
  const reference = (kind: string): string => `<w:r><w:${kind}Reference w:id="2"/></w:r>`;
  const note = (kind: string, text: string): string =>
    part(`w:${kind}s`, `<w:${kind} w:id="2" w:author="Ida">${p(text)}</w:${kind}>`);
  const body = `<w:p><w:r><w:t>The weir</w:t></w:r>${reference('footnote')}${reference('endnote')}${reference('comment')}</w:p>${p('Next')}`;
  const parts = {
    footnotes: note('footnote', 'Built in 1911.'),
    endnotes: note('endnote', 'See Orm.'),
    comments: note('comment', 'Is it?'),
  };
  const cells = `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Town</w:t></w:r>${reference('footnote')}</w:p></w:tc><w:tc>${p('Orm')}</w:tc></w:tr></w:tbl>`;
  expect(await textOf(cells, parts)).toBe('- Town[1] | Orm\n\n[1] Built in 1911.');
  expect(await textOf(body, parts)).toBe(
    'The weir[1][i]\n\n[1] Built in 1911.\n\n[i] See Orm.\n\n[Comment by Ida: Is it?]\n\nNext',
  );
});

test('headers and footers once, without page numbers, and only those that are shown', async () => {
  const field = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>3</w:t></w:r></w:fldSimple>';
  const parts = {
    header1: part(
      'w:hdr',
      `<w:p><w:r><w:t>Lease of Mill Lane 3</w:t></w:r><w:r><w:tab/></w:r><w:r><w:t xml:space="preserve">Page </w:t></w:r>${field}</w:p>`,
    ),
    header2: part('w:hdr', p('Never shown')),
    footer1: part('w:ftr', `${p('signed by Ida Voss')}<w:p>${field}</w:p>${p('Body')}`),
  };
  const section =
    '<w:sectPr><w:headerReference w:type="default" r:id="header1"/><w:headerReference w:type="first" r:id="header2"/><w:footerReference w:type="default" r:id="footer1"/></w:sectPr>';
  const body = `<w:p><w:pPr>${section}</w:pPr><w:r><w:t>Body</w:t></w:r></w:p>${section}`;
  expect(await textOf(body, parts)).toBe('Lease of Mill Lane 3\n\nBody\n\nsigned by Ida Voss');
});

test('inserted documents, or a warning', async () => {
  const inner = await wordFile(p('Inner'));
  const files = {
    'word/a.html': '<p>From <b>HTML</b></p>',
    'word/b.docx': inner,
    'word/c.rtf': '{\\rtf1 Rich}',
    'word/d.mht': 'x',
    'word/e.mht': 'MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>Saved page</p>',
  };
  const rels = links({
    h: ['aFChunk', 'a.html'],
    d: ['aFChunk', '/word/b.docx'],
    r: ['aFChunk', 'c.rtf'],
    m: ['aFChunk', 'd.mht'],
    w: ['aFChunk', 'e.mht'],
  });
  const body = ['h', 'd', 'r', 'm', 'w'].map((id) => `<w:altChunk r:id="${id}"/>`).join('');
  const { text, warnings } = await read(
    await wordFile(body, {}, { 'word/_rels/document.xml.rels': rels, ...files }),
  );
  expect(text).toBe('From HTML\n\nInner\n\nRich\n\nSaved page');
  expect(warnings).toEqual(['Inserted documents of a kind that is not read were left out: 1.']);
});

test('fields show their results, forms their states, symbols their characters', async () => {
  const mark = (type: string, data = ''): string =>
    `<w:r><w:fldChar w:fldCharType="${type}">${data}</w:fldChar></w:r>`;
  const text = (words: string): string => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`;
  const nested = `${mark('begin')}<w:r><w:instrText>IF </w:instrText></w:r>${mark('begin')}<w:r><w:instrText>X</w:instrText></w:r>${mark('separate')}${text('no')}${mark('end')}${mark('separate')}${text('yes ')}${mark('end')}`;
  const box = mark('begin', '<w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData>') + mark('end');
  const symbols =
    '<w:r><w:sym w:font="Wingdings" w:char="F0A8"/><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Webdings" w:char="F0FF"/></w:r>';
  const control =
    '<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:r><w:t>Enter a name</w:t></w:r></w:sdtContent></w:sdt>';
  const { text: shown, warnings } = await read(
    await wordFile(
      `<w:p>${nested}${box}${symbols}${control}</w:p><w:p>${mark('begin')}${text('x')}</w:p>${p('after')}`,
    ),
  );
  expect(shown).toBe('yes ☑☐α[Enter a name]\n\nafter');
  expect(warnings).toEqual(['Symbols without a Unicode character were left out, of the fonts Webdings.']);
});

test('the main part is the one that the package names; entities are not expanded', async () => {
  const document = part('w:document', `<w:body>${p('See &e; here')}</w:body>`).replace(
    '?>',
    '?><!DOCTYPE x [<!ENTITY e SYSTEM "x.txt">]>',
  );
  const bytes = await archive({
    '_rels/.rels': links({ a: ['officeDocument', '\\Word\\main.xml'] }),
    'word/main.xml': document,
  });
  for (const name of ['a.docx', 'a.docm', 'a.dotx', 'a.doc'])
    expect((await read(bytes, name)).text).toBe('See &e; here');
  const around = Buffer.concat([Buffer.from('before'), bytes, Buffer.alloc(8)]);
  expect((await read(around)).text).toBe('See &e; here');
});

test('an empty document has no text, and others are damaged', async () => {
  await expect(textOf('<w:p/>')).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
  await expect(read(Buffer.from('PK\x03\x04 nothing'))).rejects.toMatchObject({
    code: 'DOCUMENT_UNREADABLE',
  });
  await expect(read(await archive({ 'a.txt': 'x' }))).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
});

test('elements nested without end do not end the program', async () => {
  const deep = `${'<w:smartTag>'.repeat(50_000)}<w:r><w:t>deep</w:t></w:r>${'</w:smartTag>'.repeat(50_000)}`;
  expect(await textOf(`<w:p>${deep}</w:p>${p('after')}`)).toBe('deep\n\nafter');
});
