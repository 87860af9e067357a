import { describe, expect, test } from 'vitest';
import { at, pdfFile } from '../../../testing/pdf-file.ts';
import { pdf } from '../pdf.ts';

const textOf = async (...pages: string[]): Promise<string> =>
  (await pdf({ name: 'a.pdf', bytes: pdfFile(pages) })).text;

/** Rows of cells at the given places, from top to bottom. */
const rows = (xs: readonly number[], texts: readonly (readonly string[])[], y = 700, step = 14): string[] =>
  texts.map((row, i) =>
    row.map((text, n) => (text === '' ? '' : at(xs[n] ?? 0, y - step * i, text))).join(''),
  );

const LEFT = [
  'The mill of Orm grinds rye',
  'from May until the first',
  'frost comes, and then it',
  'stands still.',
];
const RIGHT = [
  'The lamp of Hollin burns',
  'all night. It is lit by',
  'Per Lund, who also keeps',
  'the gate.',
];
const BOTH = `${LEFT.join('\n')}\n\n${RIGHT.join('\n')}`;
const pairs = LEFT.map((text, i) => [text, RIGHT[i] ?? '']);

test('cells with a line between them are apart, however near', async () => {
  const cells = [
    ['123', '456'],
    ['234', '567'],
    ['345', '678'],
  ];
  const text = rows([72, 92.6], cells).join('');
  const apart = '123 456\n234 567\n345 678';
  expect(await textOf(text)).toBe(apart.replaceAll(' ', ''));
  expect(await textOf(`${text} 92.3 660 m 92.3 715 l S`)).toBe(apart);
  const byRow = [697, 683, 669].map((y) => `92.1 ${y} 0.4 14 re f `).join('');
  expect(await textOf(text + byRow)).toBe(apart);
  // As tall as a line of text.
  expect(await textOf(`${text} 92.3 698 m 92.3 710 l S`)).toBe(apart.replaceAll(' ', ''));
});

describe('order', () => {
  test('lines drawn out of order', async () => {
    const lines = rows([72], [['First: open the gate.'], ['Second: wait an hour.'], ['Third: close it.']]);
    expect(await textOf(lines.toReversed().join(''))).toBe(
      'First: open the gate.\nSecond: wait an hour.\nThird: close it.',
    );
  });

  test('words and letters drawn out of order', async () => {
    const letters = Array.from('ferry', (letter, i) => at(72 + [0, 3.5, 10, 14, 18][i]!, 700, letter));
    expect(await textOf(at(130, 700, 'six.') + at(102, 700, 'at') + letters.toReversed().join(''))).toBe(
      'ferry at six.',
    );
  });

  test('two columns, whether drawn by row or by column', async () => {
    expect(await textOf(rows([72, 320], pairs).join(''))).toBe(BOTH);
    expect(
      await textOf(
        rows(
          [72],
          LEFT.map((text) => [text]),
        ).join('') +
          rows(
            [320],
            RIGHT.map((text) => [text]),
          ).join(''),
      ),
    ).toBe(BOTH);
  });

  test('two columns between lines that are drawn across the page', async () => {
    const lines = '72 730 m 500 730 l S 72 640 m 500 640 l S ';
    expect(await textOf(lines + rows([72, 320], pairs).join(''))).toBe(BOTH);
  });

  test('three columns', async () => {
    const third = [
      'The gate of Rask is shut',
      'on Sundays and when the',
      'wind comes from the sea,',
      'as it often does.',
    ];
    const three = pairs.map(([a, b], i) => [a ?? '', b ?? '', third[i] ?? '']);
    expect(await textOf(rows([30, 220, 410], three).join(''))).toBe(`${BOTH}\n\n${third.join('\n')}`);
  });

  test('a left column that is longer, and sections one below the other', async () => {
    const longer = [...LEFT.slice(0, 3), 'stands still for the whole', 'of the winter.'];
    const uneven = longer.map((text, i) => [text, RIGHT[i] ?? '']);
    const page =
      rows([72, 320], uneven).join('') +
      at(72, 600, 'A second section of the page begins with this line, which is long.') +
      rows([72, 320], pairs, 570).join('');
    expect(await textOf(page)).toBe(
      `${longer.join('\n')}\n\n${RIGHT.join('\n')}\n\nA second section of the page begins with this line, which is long.\n\n${BOTH}`,
    );
  });

  test('two columns whose lines are not level', async () => {
    const left = rows(
      [72],
      LEFT.map((text) => [text]),
    );
    const right = rows(
      [320],
      RIGHT.map((text) => [text]),
      693,
    );
    expect(await textOf(left.map((line, i) => line + (right[i] ?? '')).join(''))).toBe(BOTH);
  });

  test('a title above columns, and a line below them', async () => {
    const page =
      at(200, 760, 'All about the town and its people', 20) +
      rows([72, 320], pairs).join('') +
      at(72, 560, 'Printed in Hollin by the people of the town, in the spring of the year.');
    expect(await textOf(page)).toBe(
      `All about the town and its people\n\n${BOTH}\n\nPrinted in Hollin by the people of the town, in the spring of the year.`,
    );
  });

  test('a box at the side', async () => {
    const body = Array.from({ length: 6 }, (_, i) => `Line ${i} of the text that goes on beside the box`);
    const page =
      rows(
        [72],
        body.map((text) => [text]),
      ).join('') +
      at(440, 695, 'See also') +
      at(440, 682, 'the map') +
      at(440, 669, 'on page 9.');
    expect(await textOf(page)).toBe(`${body.join('\n')}\nSee also\nthe map\non page 9.`);
  });

  test('a box at the side whose lines are level with the text', async () => {
    const body = Array.from({ length: 6 }, (_, i) => `Line ${i} of the text that goes on beside the box`);
    const box = ['See also', 'the map', 'on page 9.', '', '', ''];
    expect(
      await textOf(
        rows(
          [72, 440],
          body.map((text, i) => [text, box[i] ?? '']),
        ).join(''),
      ),
    ).toBe(`${body.join('\n')}\nSee also\nthe map\non page 9.`);
  });

  test('code keeps its comments beside it', async () => {
    const code = [
      'int size_of_a_chunk;     // how large it is, in tokens',
      'int number_of_chunks;    // how many of them there are',
    ];
    const page = code.flatMap((line, i) =>
      line.split(/ {2,}/).map((part) => at(72 + 7.2 * line.indexOf(part), 700 - 14 * i, part, 12, 'C')),
    );
    expect(await textOf(page.join(''))).toBe(code.join('\n'));
  });

  test.each([
    ['two', 31, 686],
    ['three', 50, 672],
  ])('an initial that is %s lines high begins the first of them', async (_, size, y) => {
    const lines = [
      'he mill of Orm grinds',
      'rye from May until',
      'the first frost comes,',
      'and stands still.',
    ];
    const text = rows(
      [72 + size * 0.7],
      lines.slice(0, 3).map((line) => [line]),
    ).join('');
    const last = at(72, 658, lines[3] ?? '');
    const initial = at(72, y, 'T', size);
    const read = `T${lines.join('\n')}`;
    expect(await textOf(initial + text + last)).toBe(read);
    expect(await textOf(text + last + initial)).toBe(read);
    const spaced = text.replace('he mill', ' mill') + last;
    expect(await textOf(at(72, y, 'A', size) + spaced)).toBe(read.replace('The', 'A'));
  });

  test('a wide space in one line is no column', async () => {
    const page =
      at(72, 700, 'The mill of Orm') +
      at(190, 700, 'grinds rye from May until the first frost comes.') +
      at(72, 686, 'Then it stands still until the people of the town come back to it.');
    expect(await textOf(page)).toBe(
      'The mill of Orm grinds rye from May until the first frost comes.\nThen it stands still until the people of the town come back to it.',
    );
  });

  test('bullets and numbers stay with their text', async () => {
    expect(
      await textOf(
        rows(
          [72, 100],
          [
            ['1.', 'Bring the papers of the boat'],
            ['*', 'Pay at the red counter'],
          ],
        ).join(''),
      ),
    ).toBe('1. Bring the papers of the boat\n* Pay at the red counter');
  });

  test('labels and values stay beside each other', async () => {
    const page = rows(
      [72, 200],
      [
        ['Name:', 'Ida Voss'],
        ['Town:', 'Hollin'],
        ['Berth:', 'North pier'],
      ],
    ).join('');
    expect(await textOf(page)).toBe('Name: Ida Voss\nTown: Hollin\nBerth: North pier');
  });
});

describe('tables', () => {
  const cells = [
    ['Month', 'Lanterns', 'Keeper'],
    ['April', '47', 'Per Lund'],
    ['May', '52', 'Ida Voss'],
    ['June', '8', ''],
  ];
  const named =
    '- Month: April; Lanterns: 47; Keeper: Per Lund\n- Month: May; Lanterns: 52; Keeper: Ida Voss\n- Month: June; Lanterns: 8';

  test('aligned, whatever order their cells are drawn in', async () => {
    expect(await textOf(rows([72, 180, 290], cells).join(''))).toBe(named);
    const byColumn = [0, 1, 2].map((n) =>
      rows(
        [[72, 180, 290][n]!],
        cells.map((row) => [row[n] ?? '']),
      ).join(''),
    );
    expect(await textOf(byColumn.join(''))).toBe(named);
  });

  test('ruled, with cells of several lines', async () => {
    const y = [712, 694, 648, 630];
    const lines = y.map((height) => `72 ${height} m 400 ${height} l S `).join('');
    const page =
      lines +
      rows([76, 200], [['Rule', 'What it says']]).join('') +
      rows(
        [76, 200],
        [
          ['Berths', 'North pier only,'],
          ['', 'from Sep-'],
          ['', 'tember'],
        ],
        682,
      ).join('') +
      rows([76, 200], [['Fees', 'Twelve crowns']], 636).join('');
    expect(await textOf(page)).toBe(
      '- Rule | What it says\n- Berths | North pier only, from September\n- Fees | Twelve crowns',
    );
  });

  test('text above and below a table stays outside of it', async () => {
    const page =
      at(72, 740, 'The lanterns of the year are counted here, month by month.') +
      rows([72, 180, 290], cells).join('') +
      at(72, 600, 'They are counted by hand, at night, by the keeper of the gate himself.');
    expect(await textOf(page)).toBe(
      `The lanterns of the year are counted here, month by month.\n\n${named}\n\nThey are counted by hand, at night, by the keeper of the gate himself.`,
    );
  });
});
