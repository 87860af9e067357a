import { describe, expect, test } from 'vitest';
import { at, pdfFile, type TestPage } from '../../../testing/pdf-file.ts';
import { pdf } from '../pdf.ts';

const read = (page: TestPage, extras?: Parameters<typeof pdfFile>[1]) =>
  Promise.resolve(pdf({ name: 'a.pdf', bytes: pdfFile([page], extras) }));
const textOf = async (page: TestPage): Promise<string> => (await read(page)).text;

const field = (rect: string, entries: string): string =>
  `/Subtype /Widget /Rect [${rect}] /DA (/F 11 Tf 0 g) ${entries}`;

describe('form fields', () => {
  test('values stand beside their labels, whether they are drawn or not', async () => {
    const content =
      at(30, 250, 'Name:') + at(30, 210, 'Town:') + at(30, 170, 'Boats:') + at(30, 130, 'About:');
    const annotations = [
      field('120 245 300 262', '/FT /Tx /T (name) /V (Ida Voss) /AP << /N 10 0 R >>'),
      field('120 205 300 222', '/FT /Ch /Ff 131072 /T (town) /V (h) /Opt [[(o) (Orm)] [(h) (Hollin)]]'),
      field('120 165 300 182', '/FT /Ch /T (boats) /V [(a) (b)] /Opt [(a) (b) (c)]'),
      field('120 105 300 145', '/FT /Tx /Ff 4096 /T (about) /V (Keeper of the gate\\rand of the lamp)'),
    ];
    const drawn = [
      '/Type /XObject /Subtype /Form /BBox [0 0 180 17] /Resources << /Font << /F 3 0 R >> >>',
      at(2, 4, 'Ida Voss', 11),
    ] as const;
    const { text } = await read(
      { content, annotations },
      { objects: [drawn], catalog: '/AcroForm << /Fields [1002 0 R 1003 0 R 1004 0 R 1005 0 R] >>' },
    );
    expect(text).toBe(
      'Name: Ida Voss\n\nTown: Hollin\n\nBoats: a, b\n\nAbout: Keeper of the gate\nand of the lamp',
    );
  });

  test('boxes and buttons that are ticked, or not', async () => {
    const content =
      at(50, 250, 'Vaccinated') + at(50, 220, 'Member') + at(50, 190, 'Yes') + at(120, 190, 'No');
    const state = (value: string) => `/V /${value} /AS /${value} /AP << /N << /Yes 10 0 R /Off 10 0 R >> >>`;
    const radio = (on: string, value: string) =>
      `/FT /Btn /Ff 32768 /T (r) /V /${value} /AS /${on === value ? on : 'Off'} /AP << /N << /${on} 10 0 R >> >>`;
    const annotations = [
      field('30 247 45 262', `/FT /Btn /T (v) ${state('Yes')}`),
      field('30 217 45 232', `/FT /Btn /T (m) ${state('Off')}`),
      field('30 187 45 202', radio('A', 'A')),
      field('100 187 115 202', radio('B', 'A')),
    ];
    const { text } = await read(
      { content, annotations },
      { objects: [['/Type /XObject /Subtype /Form /BBox [0 0 9 9]', '']] },
    );
    expect(text).toBe('[x] Vaccinated\n\n[ ] Member\n\n[x] Yes [ ] No');
  });

  test('fields without text beside them get their names', async () => {
    const annotations = [
      field('72 700 272 720', '/FT /Tx /T (form.Name[0]) /V (Ida Voss)'),
      field('72 650 272 670', '/FT /Tx /T (t) /TU (Town:) /V (Hollin)'),
      field('72 600 272 620', '/FT /Tx /T (empty)'),
    ];
    expect(await textOf({ content: '', annotations })).toBe('Name: Ida Voss\n\nTown: Hollin');
  });

  test('hidden fields and passwords are not read', async () => {
    const annotations = [
      field('120 245 300 262', '/FT /Tx /F 2 /T (a) /V (HIDDEN)'),
      field('120 205 300 222', '/FT /Tx /Ff 8192 /T (b) /V (SECRET)'),
    ];
    expect(await textOf({ content: at(30, 250, 'Name:'), annotations })).toBe('Name:');
  });
});

describe('notes', () => {
  const content = at(72, 700, 'The sluice is shut on Sundays.');

  test('text typed onto the page stands where it is', async () => {
    const annotations = [
      '/Subtype /FreeText /Rect [72 600 350 630] /DA (/F 12 Tf) /Contents (NOTE: ask Ida Voss.)',
    ];
    expect(await textOf({ content: content + at(72, 500, 'It opens on Monday.'), annotations })).toBe(
      'The sluice is shut on Sundays.\n\nNOTE: ask Ida Voss.\n\nIt opens on Monday.',
    );
  });

  test('comments follow the text, with author and the words that they mark', async () => {
    const annotations = [
      '/Subtype /Text /Rect [300 700 320 720] /T (Per Lund) /Contents (Is this\\nstill so?)',
      '/Subtype /Highlight /Rect [72 698 130 712] /QuadPoints [72 712 130 712 72 698 130 698] /Contents (Which one?)',
      '/Subtype /Highlight /Rect [72 698 130 712] /QuadPoints [72 712 130 712 72 698 130 698]',
      '/Subtype /StrikeOut /Rect [72 698 130 712] /QuadPoints [72 712 130 712 72 698 130 698]',
      '/Subtype /Link /Rect [72 698 130 712] /Contents (not a comment)',
      '/Subtype /Text /F 2 /Rect [300 700 320 720] /Contents (HIDDEN)',
    ];
    const text = await textOf({ content, annotations });
    expect(text).toBe(
      'The sluice is shut on Sundays.\n\n[Comment by Per Lund: Is this still so?]\n\n[Comment on “The sluice”: Which one?]\n\n' +
        '[Struck out: “The sluice”]',
    );
  });

  test('a stamp is read as it is drawn', async () => {
    const stamp = [
      '/Type /XObject /Subtype /Form /BBox [0 0 180 40] /Resources << /Font << /F 3 0 R >> >>',
      at(2, 10, 'APPROVED', 20),
    ] as const;
    const { text } = await read(
      { content, annotations: ['/Subtype /Stamp /Rect [300 500 480 540] /AP << /N 10 0 R >>'] },
      { objects: [stamp] },
    );
    expect(text).toBe('The sluice is shut on Sundays.\n\nAPPROVED');
  });
});

test('attached files are named in a warning', async () => {
  const catalog = '/Names << /EmbeddedFiles << /Names [(plan.txt) 10 0 R] >> >>';
  const objects = [
    '<< /Type /Filespec /F (plan.txt) /EF << /F 11 0 R >> >>',
    ['/Type /EmbeddedFile', 'x'],
  ] as const;
  const { warnings } = await read({ content: at(72, 700, 'Text.') }, { catalog, objects });
  expect(warnings).toEqual(['Attached files were not read: plan.txt.']);
});

describe('XFA forms', () => {
  const shell = at(
    72,
    700,
    'Please wait... If this message is not replaced, your viewer cannot show this form.',
  );
  const template =
    '<template><subform name="f"><draw><value><text>Berths of the year</text></value></draw>' +
    '<field name="who"><caption><value><text>Applicant:</text></value></caption></field>' +
    '<field name="secret" presence="hidden"/><field name="go"><ui><button/></ui></field>' +
    '<field name="note"><value><text>none</text></value></field></subform></template>';
  const data =
    '<xfa:datasets xmlns:xfa="x"><xfa:data><f><who>Ida &amp; Per</who><row><boat>Aal</boat><crowns>12</crowns></row>' +
    '<row><boat>Brisk</boat><crowns>9</crowns></row></f></xfa:data></xfa:datasets>';
  const expected =
    'Berths of the year\nApplicant: Ida & Per\nnote: none\nboat: Aal; crowns: 12\nboat: Brisk; crowns: 9';

  test('in one stream, and in several', async () => {
    const whole = ['', `<xdp:xdp xmlns:xdp="x">${template}${data}</xdp:xdp>`] as const;
    const one = await read(
      { content: shell },
      { catalog: '/AcroForm << /Fields [] /XFA 10 0 R >>', objects: [whole] },
    );
    expect(one.text).toBe(expected);
    const parts =
      '/AcroForm << /Fields [] /XFA [(xdp:xdp) 10 0 R (template) 11 0 R (datasets) 12 0 R (/xdp:xdp) 13 0 R] >>';
    const objects = [
      ['', '<xdp:xdp xmlns:xdp="x">'],
      ['', template],
      ['', data],
      ['', '</xdp:xdp>'],
    ] as const;
    expect((await read({ content: shell }, { catalog: parts, objects })).text).toBe(expected);
  });

  test('without values, with a warning', async () => {
    const { warnings } = await read(
      { content: shell },
      { catalog: '/AcroForm << /Fields [] /XFA 10 0 R >>', objects: [['', '<xdp:xdp/>']] },
    );
    expect(warnings).toEqual(['It is an XFA form, whose values could not be read.']);
  });
});
