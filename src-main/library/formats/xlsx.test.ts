import { utils, write, type CellObject } from '@e965/xlsx';
import { describe, expect, test } from 'vitest';
import { rowsOf, stylesOf, workbookOf, zipOf, type CellInput } from '../../testing/workbook.ts';
import type { ParsedDocument } from './format.ts';
import { xlsx } from './xlsx.ts';

async function read(bytes: Buffer, name = 'a.xlsx'): Promise<ParsedDocument> {
  return xlsx({ name, bytes });
}

async function textOf(bytes: Promise<Buffer>): Promise<string> {
  const { text, pages } = await read(await bytes);
  return text.slice(pages[0]?.start, pages[0]?.end).replace(/^## .*\n\n/, '');
}

const TOWNS: CellInput[][] = [
  ['Town', 'Bridges'],
  ['Orm', 7],
  ['Hollin', 3],
];

describe('numbers as they are shown', () => {
  const shown: [format: string | number, value: number, text: string][] = [
    [0, 1_200_000_000_000_000, '1200000000000000'],
    [0, 0.1 + 0.2, '0.3'],
    [0, 123_456_789_012.5, '123456789012.5'],
    ['#,##0.00 "€"', 1234.5, '1,234.50 €'],
    ['[$€-407] #,##0.00', 1234.5, '€ 1,234.50'],
    [7, 12, '$12.00'],
    ['#,##0;(#,##0)', -1200, '(1,200)'],
    ['0.0%', 0.155, '15.5%'],
    [9, 0.235, '24%'],
    ['# ?/?', 3.25, '3 1/4'],
    ['00000', 42, '00042'],
    ['0.00E+00', 1200, '1.20E+03'],
    [14, 46101, '2026-03-20'],
    ['dddd, d mmmm yyyy', 46101, '2026-03-20'],
    ['d.m.yy h:mm', 46100.3125, '2026-03-19 07:30'],
    [22, 46100.3125, '2026-03-19 07:30'],
    ['mmm yyyy', 46101, '2026-03'],
    ['yyyy', 46101, '2026'],
    ['hh:mm', 0.3125, '07:30'],
    ['h:mm AM/PM', 0.8125, '19:30'],
    ['h:mm:ss', 0.3125, '07:30:00'],
    ['[h]:mm', 1.09375, '26:15'],
    [46, 1.09375, '26:15:00'],
    ['mm:ss', 0.003, '04:19'],
    [14, -1, '-1'],
    [57, 46101, '2026-03-20'],
  ];
  test.each(shown)('format %s, %d', async (format, v, text) => {
    const data = rowsOf([
      ['Name', 'Value'],
      ['x', { s: 0, v }],
    ]);
    expect(await textOf(workbookOf([{ data }], { styles: stylesOf([format]) }))).toBe(
      `- Name: x; Value: ${text}`,
    );
  });

  test('days since 1904', async () => {
    const data = rowsOf([
      ['Name', 'Paid'],
      ['x', { s: 0, v: 46101 - 1462 }],
    ]);
    expect(await textOf(workbookOf([{ data }], { styles: stylesOf([14]), date1904: true }))).toBe(
      '- Name: x; Paid: 2026-03-20',
    );
  });

  test('dates, truth values and texts with escapes', async () => {
    const data = rowsOf([
      ['Day', 'Open', 'Text'],
      [
        { xml: '<c t="d"><v>2026-03-20T00:00:00</v></c>' },
        { xml: '<c t="b"><v>1</v></c>' },
        { xml: '<c t="str"><v>a_x000D_b &amp; c</v></c>' },
      ],
    ]);
    expect(await textOf(workbookOf([{ data }]))).toBe('- Day: 2026-03-20; Open: TRUE; Text: a b & c');
  });
});

describe('cells', () => {
  test('rows and cells without references follow each other', async () => {
    const cell = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
    const data = `<row>${cell('Town')}${cell('Bridges')}</row><row>${cell('Orm')}<c><v>7</v></c></row>`;
    expect(await textOf(workbookOf([{ data }]))).toBe('- Town: Orm; Bridges: 7');
  });

  test('shared texts: runs are joined, phonetic readings left out', async () => {
    const strings = [
      '<r><t>To</t></r><r><t>wn</t></r>',
      '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>',
    ];
    const at = (i: number): CellInput => ({ xml: `<c t="s"><v>${i}</v></c>` });
    const data = rowsOf([
      [at(0), 'Bridges'],
      [at(1), 7],
      [at(9), 8],
    ]);
    expect(await textOf(workbookOf([{ data }], { strings }))).toBe('- Town: 東京; Bridges: 7\n- Bridges: 8');
  });

  test('elements with a prefix', async () => {
    const bytes = workbookOf([
      { data: '', after: '<x:row xmlns:x="m"><x:c t="inlineStr"><x:is><x:t>Orm</x:t></x:is></x:c></x:row>' },
    ]);
    expect(await textOf(bytes)).toBe('- Orm');
  });

  test('formulas without a result, and errors', async () => {
    const data = rowsOf([
      ['Town', 'Sum', 'Ratio'],
      ['Orm', { xml: '<c><f>SUM(D2:D9)</f></c>' }, { xml: '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>' }],
      ['Hollin', { xml: '<c><f t="shared" si="0"/></c>' }, { xml: '<c t="str"><f>""</f><v></v></c>' }],
    ]);
    const { text, warnings } = await read(await workbookOf([{ name: 'Now', data }]));
    expect(text).toBe(
      '## Now\n\n- Town: Orm; Sum: =SUM(D2:D9); Ratio: #DIV/0!\n- Town: Hollin; Sum: (formula)',
    );
    expect(warnings).toEqual([
      'Formulas in sheet “Now” whose results are not stored in the file were read as formulas: B2, B3.',
      'Cells in sheet “Now” show errors: C2.',
    ]);
  });

  test('merged cells belong to all their rows and columns; a title over the table stays one', async () => {
    const data = rowsOf([['All bridges'], ['Town', 'Bridges', 'Built'], ['Orm', 7, 'old'], [undefined, 3]]);
    const after =
      '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A3:A4"/><mergeCell ref="C3:C1048576"/></mergeCells>';
    expect(await textOf(workbookOf([{ data, after }]))).toBe(
      'All bridges\n\n- Town: Orm; Bridges: 7; Built: old\n- Town: Orm; Bridges: 3; Built: old',
    );
  });

  test('titles within a table, and a form above it', async () => {
    const data = rowsOf([
      ['Station:', 'Orm'],
      ['Unit:', 'mm'],
      [],
      ['Town', 'Bridges'],
      ['North'],
      ['Orm', 7],
      ['South'],
    ]);
    const after = '<mergeCells><mergeCell ref="A5:B5"/></mergeCells>';
    expect(await textOf(workbookOf([{ data, after }]))).toBe(
      '- Station: | Orm\n- Unit: | mm\n\n- North\n- Town: Orm; Bridges: 7\n- Town: South',
    );
  });

  test('names of columns in two rows', async () => {
    const data = rowsOf([
      ['Town', '2024', undefined, '2025'],
      [undefined, 'Spring', 'Autumn', 'Spring', 'Autumn'],
      ['Orm', 1, 2, 3, 4],
    ]);
    const after =
      '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>';
    expect(await textOf(workbookOf([{ data, after }]))).toBe(
      '- Town: Orm; 2024 Spring: 1; 2024 Autumn: 2; 2025 Spring: 3; 2025 Autumn: 4',
    );
  });

  test('notes and threaded comments stand at their cells', async () => {
    const comments =
      '<comments><authors><author>Ida</author><author>tc=1</author></authors><commentList>' +
      '<comment ref="B2" authorId="0"><text><r><t>Ida:</t></r><r><t>\ncounted twice</t></r></text></comment>' +
      '<comment ref="B1" authorId="0"><text><t>in use</t></text></comment>' +
      '<comment ref="A3" authorId="1"><text><t>[Threaded comment] Your version …</t></text></comment></commentList></comments>';
    const threads =
      '<ThreadedComments><threadedComment ref="A3" personId="p"><text>Which one?</text></threadedComment>' +
      '<threadedComment ref="A3" personId="p"><text>The upper.</text></threadedComment></ThreadedComments>';
    const persons = '<personList><person id="p" displayName="Per Lund"/></personList>';
    const parts = [
      { type: 'comments', path: 'comments1.xml', xml: comments },
      { type: 'threadedComment', path: 'threadedComments/threadedComment1.xml', xml: threads },
    ];
    const book = workbookOf([{ data: rowsOf(TOWNS), parts }], {
      parts: [{ type: 'person', path: 'persons/person.xml', xml: persons }],
    });
    expect(await textOf(book)).toBe(
      '- Bridges [note: Ida: in use]\n- Town: Orm; Bridges: 7 [note: Ida: counted twice]\n' +
        '- Town: Hollin [note: Per Lund: Which one?; Per Lund: The upper.]; Bridges: 3',
    );
  });
});

describe('headers', () => {
  const words: CellInput[][] = [
    ['rye', 'north'],
    ['oats', 'south'],
    ['barley', 'east'],
  ];

  test('rows of words alone have none, unless it is shown as one', async () => {
    expect(await textOf(workbookOf([{ data: rowsOf(words) }]))).toBe(
      '- rye | north\n- oats | south\n- barley | east',
    );
    const named = '- rye: oats; north: south\n- rye: barley; north: east';
    const bold = rowsOf(words).replace('r="A1"', 'r="A1" s="1"').replace('r="B1"', 'r="B1" s="1"');
    expect(await textOf(workbookOf([{ data: bold }], { styles: stylesOf([0]) }))).toBe(named);
    const filter = '<autoFilter ref="A1:B3"/>';
    expect(await textOf(workbookOf([{ data: rowsOf(words), after: filter }]))).toBe(named);
    const table = { type: 'table', path: 'tables/table1.xml', xml: '<table ref="A1:B3"/>' };
    expect(await textOf(workbookOf([{ data: rowsOf(words), parts: [table] }]))).toBe(named);
    const bare = { ...table, xml: '<table ref="A1:B3" headerRowCount="0"/>' };
    expect(await textOf(workbookOf([{ data: rowsOf(words), parts: [bare] }]))).toBe(
      '- rye | north\n- oats | south\n- barley | east',
    );
  });

  test('one word over several, and few values that recur', async () => {
    const names: CellInput[][] = [
      ['Town', 'Mayor'],
      ['Orm', 'Ida Voss'],
      ['Hollin', 'Per Lund'],
    ];
    expect(await textOf(workbookOf([{ data: rowsOf(names) }]))).toBe(
      '- Town: Orm; Mayor: Ida Voss\n- Town: Hollin; Mayor: Per Lund',
    );
    const ships: CellInput[][] = [
      ['Ship', 'Kind'],
      ...['Aurora', 'Borealis', 'Corona', 'Delta'].map((name) => [name, 'Ferry']),
    ];
    expect(await textOf(workbookOf([{ data: rowsOf(ships) }]))).toContain('- Ship: Delta; Kind: Ferry');
  });

  test('several tables, and words between them', async () => {
    const data = rowsOf([
      ['Sales'],
      [],
      ...TOWNS,
      [],
      ['Esk', 5],
      [],
      ['Ship', 'Crew'],
      ['Aurora', 12],
      [],
      ['Counted by Ida'],
    ]);
    expect(await textOf(workbookOf([{ data }]))).toBe(
      'Sales\n\n- Town: Orm; Bridges: 7\n- Town: Hollin; Bridges: 3\n- Town: Esk; Bridges: 5\n\n- Ship: Aurora; Crew: 12\n\n- Counted by Ida',
    );
  });
});

describe('hidden parts are read and marked', () => {
  test('sheets, rows and columns', async () => {
    const data = rowsOf(TOWNS).replace('<row r="3"', '<row r="3" hidden="1"');
    const before = '<cols><col min="2" max="2" hidden="1"/><col min="5" max="16384" hidden="1"/></cols>';
    const { text, warnings, pages } = await read(
      await workbookOf([
        { name: 'Now', data, before },
        { name: 'Old', state: 'veryHidden', data: rowsOf([['Rent', 700]]) },
      ]),
    );
    expect(text).toBe(
      '## Now\n\n- Town: Orm; Bridges (hidden column): 7\n- Town: Hollin; Bridges (hidden column): 3 (hidden row)\n\n' +
        '## Old (hidden sheet)\n\n- Rent | 700',
    );
    expect(pages.map(({ label }) => label)).toEqual(['Now', 'Old (hidden sheet)']);
    expect(warnings).toEqual([
      'Hidden rows in sheet “Now” were read and are marked: 1.',
      'Hidden columns in sheet “Now” were read: B.',
      'Hidden sheet “Old” was read and is marked.',
    ]);
  });
});

describe('what lies on a sheet', () => {
  const box = (text: string, extra = ''): string =>
    `<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" name="b"${extra}/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></xdr:txBody></xdr:sp>`;
  const drawing = (content: string): string =>
    `<xdr:wsDr xmlns:xdr="x" xmlns:a="a" xmlns:c="c" xmlns:r="r"><xdr:twoCellAnchor>${content}</xdr:twoCellAnchor></xdr:wsDr>`;

  test('text boxes, in groups too, and pictures', async () => {
    const described =
      '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="p" descr="Map of Orm"/></xdr:nvPicPr></xdr:pic>';
    const xml = drawing(
      `${box('Without tax')}<xdr:grpSp>${box('In crowns')}</xdr:grpSp>${box('Secret', ' hidden="1"')}<xdr:pic/>${described}`,
    );
    const parts = [{ type: 'drawing', path: 'drawings/drawing1.xml', xml }];
    const { text, warnings } = await read(await workbookOf([{ name: 'P', data: '', parts }]));
    expect(text).toBe('## P\n\nWithout tax\n\nIn crowns\n\nMap of Orm');
    expect(warnings).toEqual(['Pictures in sheet “P” were not read: 1.']);
    const picture = [{ type: 'drawing', path: 'drawings/drawing1.xml', xml: drawing('<xdr:pic/>') }];
    await expect(workbookOf([{ name: 'P', data: '', parts: picture }]).then(read)).rejects.toMatchObject({
      code: 'DOCUMENT_NO_TEXT',
      message: expect.stringContaining(
        'its sheets are empty. Pictures in sheet “P” were not read: 1. ',
      ) as string,
    });
  });

  test('charts with their titles and values', async () => {
    const values = (name: string, points: readonly string[]): string =>
      `<c:${name}><c:strRef><c:strCache>${points.map((point, i) => `<c:pt idx="${i}"><c:v>${point}</c:v></c:pt>`).join('')}</c:strCache></c:strRef></c:${name}>`;
    const chart =
      '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Bridges by town</a:t></a:r></a:p></c:rich></c:tx></c:title>' +
      `<c:plotArea><c:barChart><c:ser>${values('tx', ['2024'])}${values('cat', ['Orm', 'Hollin'])}${values('val', ['7', '3'])}</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;
    const frame =
      '<xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></xdr:graphicFrame>';
    const parts = [
      {
        type: 'drawing',
        path: 'drawings/drawing1.xml',
        xml: drawing(frame),
        links: [['c', 'chart', '../charts/chart1.xml']] as const,
      },
      { type: '', path: 'charts/chart1.xml', xml: chart },
    ];
    expect(await textOf(workbookOf([{ data: rowsOf(TOWNS), parts }]))).toBe(
      '- Town: Orm; Bridges: 7\n- Town: Hollin; Bridges: 3\n\nChart: Bridges by town\n- Orm: 7\n- Hollin: 3',
    );
  });
});

describe('limits', () => {
  test('cells far out cost nothing', async () => {
    const far =
      '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c><c r="XFE1"><v>1</v></c></row>';
    const data = `${rowsOf(TOWNS)}<row r="0"><c r="A0"><v>1</v></c></row>${far}`;
    expect(await textOf(workbookOf([{ data }]))).toBe(
      '- Town: Orm; Bridges: 7\n- Town: Hollin; Bridges: 3\n\n- x',
    );
  });

  test('one text in very many cells', async () => {
    const cells = Array.from({ length: 2000 }, () => '<row><c t="s"><v>0</v></c></row>').join('');
    const strings = [`<t>${'lamp '.repeat(6000)}</t>`];
    await expect(workbookOf([{ name: 'Big', data: cells }], { strings }).then(read)).rejects.toMatchObject({
      code: 'DOCUMENT_TOO_LARGE',
      message: expect.stringContaining('“Big”') as string,
    });
  });

  test('merged cells without end', async () => {
    const data = rowsOf(TOWNS);
    const merge = '<mergeCell ref="A2:XFD1048576"/>'.repeat(3);
    const { warnings } = await read(
      await workbookOf([{ name: 'M', data, after: `<mergeCells>${merge}</mergeCells>` }]),
    );
    expect(warnings).toEqual(['Not all merged cells of sheet “M” were repeated.']);
  });

  test('a sheet that is missing or damaged', async () => {
    const bytes = await workbookOf([{ data: '<row><c t="s"><v>x</v></c><c s="99"><v>7</v></c><c><v>' }]);
    expect((await read(bytes)).text).toContain('7');
  });
});

describe('other kinds of workbooks', () => {
  function other(bookType: 'xlsb' | 'biff8' | 'xlml' | 'html'): Buffer {
    const book = utils.book_new();
    const sheet = utils.aoa_to_sheet([
      ['Month', 'Lanterns', 'Share', 'Paid'],
      ['March', 31, 0.155, 46101],
      [null, 47, 0.235, 46102],
    ]);
    for (const row of [2, 3]) {
      (sheet[`C${row}`] as CellObject).z = '0.0%';
      (sheet[`D${row}`] as CellObject).z = 'yyyy-mm-dd';
    }
    sheet['!merges'] = [{ s: { r: 1, c: 0 }, e: { r: 2, c: 0 } }];
    utils.book_append_sheet(book, sheet, 'Sales');
    utils.book_append_sheet(book, utils.aoa_to_sheet([['Rent', 700]]), 'Old');
    book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] };
    return Buffer.from(write(book, { type: 'buffer', bookType }) as Uint8Array);
  }

  test.each(['xlsb', 'biff8', 'xlml'] as const)('%s', async (kind) => {
    const { text } = await read(other(kind));
    expect(text).toContain(
      '- Month: March; Lanterns: 31; Share: 15.5%; Paid: 2026-03-20\n- Month: March; Lanterns: 47',
    );
    expect(text).toMatch(/## Old \(hidden sheet\)\n\n- Rent \| 700/);
  });

  test('OpenDocument', async () => {
    const cell = (text: string, more = ''): string =>
      `<table:table-cell office:value-type="string"${more}><text:p>${text}</text:p></table:table-cell>`;
    const xml =
      '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="t" xmlns:text="x" xmlns:style="s" xmlns:dc="d" xmlns:draw="w">' +
      '<style:style style:name="gone" style:family="table"><style:table-properties table:display="false"/></style:style>' +
      '<office:body><office:spreadsheet><table:tracked-changes><table:table-cell><text:p>deleted</text:p></table:table-cell></table:tracked-changes>' +
      '<table:table table:name="Sales"><table:shapes><draw:custom-shape><text:p>In crowns</text:p></draw:custom-shape></table:shapes>' +
      '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column table:number-columns-repeated="1022"/>' +
      `<table:table-row>${cell('Month')}${cell('Share')}${cell('Paid')}<table:table-cell table:number-columns-repeated="1021"/></table:table-row>` +
      `<table:table-row>${cell('March', ' table:number-rows-spanned="2"')}<table:table-cell office:value-type="percentage" office:value="0.155"><text:p>15,5 %</text:p></table:table-cell>` +
      '<table:table-cell office:value-type="date" office:date-value="2026-03-20"><office:annotation><dc:creator>Ida</dc:creator><text:p>late</text:p></office:annotation><text:p>20.03.26</text:p></table:table-cell></table:table-row>' +
      '<table:table-row table:visibility="filter" table:number-rows-repeated="2"><table:covered-table-cell/><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell></table:table-row>' +
      '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:formula="of:=SUM([.A1])"/></table:table-row></table:table>' +
      `<table:table table:name="Old" table:style-name="gone"><table:table-row>${cell('Rent')}${cell('700')}</table:table-row></table:table>` +
      '</office:spreadsheet></office:body></office:document>';
    const { text, warnings } = await read(
      Buffer.from(xml.replace(' table:number-rows-repeated="1048570"', '')),
      'a.ods',
    );
    expect(text).toBe(
      '## Sales\n\n- Month: March; Share (hidden column): 15,5 %; Paid: 2026-03-20 [note: Ida: late]\n' +
        '- Month: March; Share (hidden column): 7; Paid: 7 (hidden row)\n- Share (hidden column): 7; Paid: 7 (hidden row)\n' +
        '- Month: =SUM([.A1])\n\nIn crowns\n\n## Old (hidden sheet)\n\n- Rent | 700',
    );
    expect(warnings).toEqual([
      'Hidden rows in sheet “Sales” were read and are marked: 2.',
      'Hidden columns in sheet “Sales” were read: B.',
      'Formulas in sheet “Sales” whose results are not stored in the file were read as formulas: A5.',
      'Hidden sheet “Old” was read and is marked.',
    ]);
    const endless = await read(Buffer.from(xml), 'a.ods');
    expect(endless.warnings).toContain('Not all repeated cells of sheet “Sales” were read.');
  });

  test('OpenDocument with a chart', async () => {
    const names =
      'xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:draw="d" xmlns:xlink="l" xmlns:chart="c"';
    const row = (...texts: string[]): string =>
      `<table:table-row>${texts.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join('')}</table:table-row>`;
    const object = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>';
    const content = `<office:document-content ${names}><office:body><office:spreadsheet><table:table table:name="A"><table:shapes>${object}</table:shapes>${row('Town', 'Time')}${row('Orm', '26:15')}</table:table></office:spreadsheet></office:body></office:document-content>`;
    const chart = `<office:document-content ${names}><office:body><office:chart><chart:chart><chart:title><text:p>Bridges</text:p></chart:title><table:table table:name="local-table">${row('', '2024')}${row('Orm', '7')}</table:table></chart:chart></office:chart></office:body></office:document-content>`;
    const bytes = await zipOf(
      new Map([
        ['content.xml', content],
        ['Object 1/content.xml', chart],
      ]),
    );
    expect((await read(bytes, 'a.ods')).text).toBe(
      '## A\n\n- Town: Orm; Time: 26:15\n\nChart: Bridges\n- Orm; 2024: 7',
    );
  });

  test('plain tables and web pages under the name of the old format', async () => {
    expect((await read(Buffer.from('Town\tBridges\nOrm\t7\n'), 'a.xls')).text).toBe(
      '- Town: Orm; Bridges: 7',
    );
    expect((await read(other('html'), 'a.xls')).text).toContain('Month');
  });

  test('files that are no workbooks', async () => {
    for (const bytes of [
      Buffer.from('PK\u0003\u0004 and nothing'),
      Buffer.from('<?xml version="1.0"?><a/>'),
      Buffer.alloc(600, 9),
    ])
      await expect(read(bytes)).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
  });
});
