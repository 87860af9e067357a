import { describe, expect, test } from 'vitest';
import { at, pdfFile, type TestPage } from '../../../testing/pdf-file.ts';
import { pdf } from '../pdf.ts';

const read = (pages: readonly (TestPage | string)[], extras?: Parameters<typeof pdfFile>[1]) =>
  Promise.resolve(pdf({ name: 'a.pdf', bytes: pdfFile(pages, extras) }));
const textOf = async (...pages: (TestPage | string)[]): Promise<string> => (await read(pages)).text;

const UNSEEN = 'Text that is not visible was left out on these pages: 1.';
const SEEN = at(72, 700, 'The ferry leaves at six.');

describe('text that nobody sees', () => {
  test.each([
    ['not painted', `BT 3 Tr ET ${at(72, 600, 'HIDDEN')}`],
    ['below the page', at(72, -400, 'HIDDEN')],
    ['white on white', `1 1 1 rg ${at(72, 600, 'HIDDEN')}`],
    ['white on white in CMYK', `0 0 0 0 k ${at(72, 600, 'HIDDEN')}`],
    ['tiny', at(72, 600, 'HIDDEN', 0.2)],
    ['covered by a box', `${at(72, 600, 'HIDDEN')} 0 g 60 590 200 30 re f`],
    ['outside of the clipping path', `q 0 0 20 20 re W n ${at(72, 600, 'HIDDEN')} Q`],
    ['a clipping path that nothing is painted through', `BT 7 Tr ET ${at(72, 600, 'HIDDEN')} BT 0 Tr ET`],
    ['black on black', `0 g 60 590 200 30 re f ${at(72, 600, 'HIDDEN')}`],
  ])('%s', async (_, content) => {
    const { text, warnings } = await read([`q ${SEEN} Q q ${content} Q`]);
    expect(text).toBe('The ferry leaves at six.');
    expect(warnings).toEqual([UNSEEN]);
  });

  test('a box over some of the words', async () => {
    const text = 'Paid to Ida Voss on 1 May.';
    const { text: read_, warnings } = await read([`${at(72, 700, text)} 0 g 111 695 52 16 re f`]);
    expect(read_).toBe('Paid to on 1 May.');
    expect(warnings).toEqual([UNSEEN]);
  });

  test('outlined letters, and words that are struck through, are seen', async () => {
    expect(await textOf(`1 1 1 rg 0 0 0 RG 2 Tr ${at(72, 700, 'Outlined', 30)}`)).toBe('Outlined');
    expect(await textOf(`${at(72, 700, 'Struck', 30)} 72 708 90 3 re f`)).toBe('Struck');
  });

  test('small letters are seen, also those of a font that is made of pictures and does not say how high it is', async () => {
    const letter = (bounds: string): readonly [string, string] => [
      '',
      `13 0 ${bounds} d1 q 9 0 0 14 2 19 cm BI /W 8 /H 8 /BPC 1 /IM true ID ${'x'.repeat(8)} EI Q`,
    ];
    const font =
      '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [0.0042 0 0 0.0042 0 0] /CharProcs << /A 11 0 R /space 12 0 R >> ' +
      '/Encoding << /Type /Encoding /Differences [32 /space 65 /A] >> /FirstChar 32 /LastChar 65 ' +
      `/Widths [${'13 '.repeat(34)}] >>`;
    const page = { content: at(72, 700, 'AA A', 58, 'T'), resources: '/Font << /T 10 0 R >>' };
    const space = ['', '13 0 0 0 1 1 d1'] as const;
    const { text, warnings } = await read([page], { objects: [font, letter('2 19 9 33'), space] });
    expect(text).toBe('AA A');
    expect(warnings).toEqual([]);
  });

  test('letters that a later box is painted through, as headings in several colours are', async () => {
    const letters = `q BT 7 Tr ET BT /F 30 Tf 72 600 Td (Heading) Tj ET 0 0 1 rg 60 590 300 60 re f Q`;
    const { text, warnings } = await read([`${SEEN} ${letters} 1 g ${at(72, 500, 'HIDDEN')}`]);
    expect(text).toBe('The ferry leaves at six.\n\nHeading');
    expect(warnings).toEqual([UNSEEN]); // the white words
  });

  test('a box that is painted through a path of another shape may leave the words uncovered', async () => {
    const ring = 'q 60 690 m 100 650 300 650 400 690 c 400 720 l 60 720 l h W n 0 g 0 0 595 842 re f Q';
    expect(await textOf(`${SEEN} ${ring}`)).toBe('The ferry leaves at six.');
  });

  test('transparent', async () => {
    const resources = '/ExtGState << /G << /ca 0 >> >>';
    const { text } = await read([{ content: `${SEEN} /G gs ${at(72, 600, 'HIDDEN')}`, resources }]);
    expect(text).toBe('The ferry leaves at six.');
  });

  test('what is seen all the same', async () => {
    const { text, warnings } = await read([
      `0 0 0.5 rg 60 690 400 30 re f 1 g ${at(72, 700, 'White on blue')}` +
        `0.9 g 60 590 200 30 re f 0 g ${at(72, 600, 'Black on grey')}` +
        `q 60 490 300 30 re W n ${at(72, 500, 'Within its clipping path')} Q` +
        `1 g 60 390 200 30 re f 0 g ${at(72, 400, 'On a white box')}`,
    ]);
    expect(text).toBe('White on blue\n\nBlack on grey\n\nWithin its clipping path\n\nOn a white box');
    expect(warnings).toEqual([]);
  });

  const picture = [
    '/Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 /ColorSpace /DeviceGray',
    'x'.repeat(81),
  ] as const;
  const resources = '/XObject << /I 10 0 R >>';

  test("a scan's recognised text is read, also beside a stamp that is seen", async () => {
    const content = `q 595 0 0 842 0 0 cm /I Do Q BT 3 Tr ET ${at(72, 700, 'Recognised text.')} BT 0 Tr ET ${at(72, 20, 'No. 7')}`;
    const { text, warnings } = await read([{ content, resources }], { objects: [picture] });
    expect(text).toBe('Recognised text.\n\nNo. 7');
    expect(warnings).toEqual([]);
    expect(await textOf(`BT 3 Tr ET ${at(72, 700, 'Only this.')}`)).toBe('Only this.');
  });

  test('white text on a picture is seen', async () => {
    const content = `q 400 0 0 100 60 650 cm /I Do Q 1 g ${at(72, 700, 'On a photo')}`;
    expect((await read([{ content, resources }], { objects: [picture] })).text).toBe('On a photo');
  });
});

describe('layers', () => {
  const catalog = '/OCProperties << /OCGs [10 0 R 11 0 R] /D << /OFF [10 0 R] >> >>';
  const objects = ['<< /Type /OCG /Name (draft) >>', '<< /Type /OCG /Name (final) >>'];
  const resources = '/Properties << /A 10 0 R /B 11 0 R >>';

  test('text in a layer that is switched off is left out, with a warning', async () => {
    const content = `${SEEN} /OC /A BDC ${at(72, 650, 'DRAFT')} EMC /OC /B BDC ${at(72, 600, 'FINAL')} EMC`;
    const { text, warnings } = await read([{ content, resources }], { catalog, objects });
    expect(text).toBe('The ferry leaves at six.\n\nFINAL');
    expect(warnings).toEqual(['Text in layers that are switched off was left out on these pages: 1.']);
  });

  test('a form that belongs to it, too', async () => {
    const form = [
      '/Type /XObject /Subtype /Form /BBox [0 0 595 842] /OC 10 0 R /Resources << /Font << /F 3 0 R >> >>',
      at(72, 650, 'DRAFT'),
    ] as const;
    const page = { content: `${SEEN} /X Do`, resources: '/XObject << /X 12 0 R >>' };
    expect((await read([page], { catalog, objects: [...objects, form] })).text).toBe(
      'The ferry leaves at six.',
    );
  });
});

test('text that stands for what is drawn', async () => {
  const content = `BT /F 12 Tf 72 700 Td (the di) Tj /Span << /ActualText (ffi) >> BDC (X) Tj EMC (cult o) Tj
    /Span /P BDC (Y) Tj EMC (ce) Tj /Span << /ActualText () >> BDC (!) Tj EMC ET`;
  const resources = '/Properties << /P << /ActualText <FEFF006600660069> >> >>';
  expect(await textOf({ content, resources })).toBe('the difficult office!');
});

describe('letters', () => {
  test('of numbers in charts: close to each other, or on different baselines', async () => {
    const axis = Array.from({ length: 30 }, (_, i) =>
      at(72 + i * 13.5 - (i < 9 ? 0 : 3), 700, String(i + 1), 10),
    );
    expect(await textOf(axis.join(''))).toBe(Array.from({ length: 30 }, (_, i) => i + 1).join(' '));
    const bars = at(72, 700, '24.8', 11) + at(72 + 22.4, 703, '25.3', 11);
    expect(await textOf(bars)).toBe('24.8 25.3');
  });

  test('that are set apart make words', async () => {
    expect(await textOf(`5 Tc ${at(72, 700, 'ANNUAL REPORT')}`)).toBe('ANNUAL REPORT');
    expect(
      await textOf(Array.from('CONFIDENTIAL', (letter, i) => at(72 + 14 * i, 700, letter)).join('')),
    ).toBe('CONFIDENTIAL');
    const words = Array.from('TOP SECRET', (letter, i) =>
      letter === ' ' ? '' : at(72 + 14 * i, 700, letter),
    );
    expect(await textOf(words.join(''))).toBe('TOP SECRET');
    expect(await textOf(at(72, 700, 'A N N U A L   R E P O R T'))).toBe('ANNUAL REPORT');
  });

  test('with the width of a space between letters that are drawn back', async () => {
    const content =
      'BT /F 10 Tf 5 Tc 72 700 Td [(S) 500 (o) 500 (m) 500 (e) 200 (f) 500 (o) 500 (n) 500 (t)] TJ ET';
    expect(await textOf(content)).toBe('Some font');
    expect(await textOf('BT /F 10 Tf 72 700 Td (wir) Tj 5 Tc (d) Tj 0 Tc (neu) Tj ET')).toBe('wird neu');
  });

  test('that are drawn twice are one, in bold or with a shadow', async () => {
    expect(await textOf(at(72, 700, 'Bold') + at(72.4, 700, 'Bold'))).toBe('Bold');
    expect(await textOf(at(72, 700, 'Shadow') + at(73, 699, 'Shadow'))).toBe('Shadow');
    expect(
      await textOf(
        Array.from('Keep', (letter, i) => at(72 + 7 * i, 700, letter) + at(72.3 + 7 * i, 700, letter)).join(
          '',
        ),
      ),
    ).toBe('Keep');
    expect(await textOf(at(72, 700, 'bookkeeper Mississippi 1001'))).toBe('bookkeeper Mississippi 1001');
  });

  test('above and below the line stay in it', async () => {
    const content =
      'BT /F 12 Tf 72 700 Td (H) Tj /F 8 Tf -3 Ts (2) Tj /F 12 Tf 0 Ts (O weighs 10) Tj /F 8 Tf 5 Ts (3) Tj /F 12 Tf 0 Ts ( g.) Tj ET';
    expect(await textOf(content)).toBe('H2O weighs 10³ g.');
  });
});

describe('directions', () => {
  const turned = (x: number, y: number, degrees: number, text: string): string => {
    const cos = Math.cos((degrees * Math.PI) / 180).toFixed(6);
    const sin = Math.sin((degrees * Math.PI) / 180).toFixed(6);
    return `BT /F 20 Tf ${cos} ${sin} -${sin} ${cos} ${x} ${y} Tm (${text}) Tj ET `;
  };

  test('a watermark does not interrupt the sentence that it crosses', async () => {
    const text =
      at(72, 700, 'The sluice is shut on Sundays') +
      turned(100, 650, 45, 'DRAFT') +
      at(72, 686, 'and on holidays.');
    expect(await textOf(text)).toBe('The sluice is shut on Sundays\nand on holidays.\n\nDRAFT');
  });

  test('a label along the edge; a page that is turned; a scan that lay askew', async () => {
    expect(await textOf(at(72, 700, 'The text of the page.') + turned(20, 300, 90, 'arXiv 1 May'))).toBe(
      'The text of the page.\n\narXiv 1 May',
    );
    const page = turned(100, 100, 90, 'First line') + turned(124, 100, 90, 'second line.');
    expect(await textOf({ content: page, entries: '/Rotate 90' })).toBe('First line\nsecond line.');
    expect(await textOf(page)).toBe('First line\nsecond line.');
    expect(await textOf(turned(72, 700, 2, 'Nearly') + turned(140, 702, 2, 'level'))).toBe('Nearly level');
  });
});
