import { expect, test } from 'vitest';
import type { ParsedDocument } from '../format.ts';
import { parserOf } from '../formats.ts';

async function read(content: string, name = 'a.rtf'): Promise<ParsedDocument> {
  const bytes = Buffer.from(
    `{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset204 Arial;}{\\f2\\fcharset2 Wingdings;}{\\f3\\fcharset128 MS;}}{\\stylesheet{\\s1 heading 1;}{\\s2\\outlinelevel1 Own;}}${content}}`,
    'latin1',
  );
  return (await parserOf(name.replace(/^.*\./, '')))({ name, bytes });
}

test('headings, visible numbers, code pages and characters', async () => {
  const { text, headings, title } = await read(
    String.raw`\pard\s1 {\listtext 1.\tab}Rent\par\pard\s2 Amount\par\pard\plain \u8364?840 \'e9t\'e9 \f1\'cf\'f0\f3\'93\'fa\f0\par {\listtext\f2\'a7\tab}gate\par{\pntext (b)\tab}lock\emdash x\line y\par`,
  );
  expect(text).toBe('# 1. Rent\n\n## Amount\n\n€840 été Пр日\n\n- gate\n(b) lock—x\ny');
  expect(headings?.map((heading) => heading.title)).toEqual(['1. Rent', 'Amount']);
  expect(title).toBe('1. Rent');
});

test('hidden and deleted text is left out and told; notes, comments, boxes and headers are read', async () => {
  const { text, warnings } = await read(
    String.raw`{\info{\title Not shown}}{\header Lease\tab Page {\field{\*\fldinst PAGE}{\fldrslt 3}}\par}{\v secret}{\deleted old}{\revised new}{\footnote \chftn  Note.}{\footnote\ftnalt  End.}{\*\atnauthor Ida}{\*\annotation Why?}{\shp{\*\shpinst{\sp{\sn n}{\sv v}}{\shptxt Boxed\par}}{\shprslt Boxed}}\par{\*\unknown gone}{\pict 00ff}{\upr{Ansi}{\*\ud{Own \u20013?}}}\par`,
  );
  expect(text).toBe(
    'Lease\n\nnew[1][i]\n\n[1] Note.\n\n[i] End.\n\n[Comment by Ida: Why?]\n\nBoxed\n\nOwn 中',
  );
  expect(warnings).toEqual([
    'Tracked changes were read as accepted: 1 insertion, 1 deletion.',
    'Hidden text was left out: 1 piece.',
  ]);
});

test('tables with merged cells, under the name of a Word document too', async () => {
  const row = (cells: string, definitions = ''): string => `\\trowd${definitions}\\pard\\intbl ${cells}\\row`;
  const table = `${row('Town\\cell Bridges\\cell')}${row('Orm\\cell 7\\cell')}${row('\\cell 3\\par later\\cell', '\\clvmrg\\cellx1\\cellx2')}\\pard after\\par`;
  expect((await read(table, 'a.doc')).text).toBe(
    '- Town: Orm; Bridges: 7\n- Town: Orm; Bridges: 3 later\n\nafter',
  );
});

test('damaged files end in an error or in what can be read', async () => {
  expect((await read('{{{ open \\bin99999999 x')).text).toBe('open');
  await expect(read('')).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
});

test('bytes behind the document are not text, and a star within a group skips nothing', async () => {
  expect((await read(String.raw`{\b0\*\cs7 Kept}\par}q|8$DM`)).text).toBe('Kept');
  expect((await read(String.raw`One\par}Two\par`)).text).toBe('One\n\nTwo');
});

test('control words with names that every object has are unknown words', async () => {
  const { text } = await read(String.raw`\pard Weir{\constructor one}\toString{\valueOf two}\par`);
  expect(text).toBe('Weironetwo');
});
