import { expect, test } from 'vitest';
import { chart, diagram, part, shape, slidesFile } from '../../../testing/office-files.ts';
import type { ParsedDocument } from '../format.ts';
import { parserOf } from '../formats.ts';

async function read(bytes: Buffer, name = 'a.pptx'): Promise<ParsedDocument> {
  return (await parserOf(name.replace(/^.*\./, '')))({ name, bytes });
}

const cell = (text: string, attributes = ''): string =>
  `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
const frame = (inner: string): string =>
  `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="g"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></p:graphicFrame>`;
const group = (inner: string): string =>
  `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="g"/></p:nvGrpSpPr>${inner}</p:grpSp>`;

test('tables behind a slide number, groups, charts and diagrams', async () => {
  const table = `<a:tbl><a:tr>${cell('Town')}${cell('Litres')}</a:tr><a:tr>${cell('Orm', 'rowSpan="2"')}${cell('4200')}</a:tr><a:tr>${cell('', 'vMerge="1"')}${cell('17')}</a:tr></a:tbl>`;
  const shapes = [
    shape('sldNum', '7'),
    frame(table),
    shape('title', 'Water'),
    group(shape('', 'Grouped')),
    frame('<c:chart r:id="chart"/>'),
    frame('<dgm:relIds r:dm="diagramData"/>'),
  ].join('');
  const parts = { chart: chart('Rain', { March: '73' }), diagramData: diagram(['Gate'], ['Shut it', 0]) };
  const { text, headings, title, warnings } = await read(await slidesFile([{ shapes, parts }]));
  expect(text).toBe(
    '## Water\n\n- Town: Orm; Litres: 4200\n- Town: Orm; Litres: 17\n\nGrouped\n\nChart: Rain\n- March: 73\n\nDiagram:\n- Gate\n  - Shut it',
  );
  expect(headings).toEqual([{ start: 0, level: 2, title: 'Water' }]);
  expect([title, warnings]).toEqual(['Water', []]);
});

test('a picture with a description', async () => {
  const picture = (description: string): string =>
    `<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="${description}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr></p:pic>`;
  const shapes = shape('title', 'Water') + picture('orm.png') + picture('The weir in flood');
  const { text } = await read(await slidesFile([{ shapes }]));
  expect(text).toBe('## Water\n\nThe weir in flood');
});

test('a value over two columns of a table is repeated', async () => {
  const table = `<a:tbl><a:tr>${cell('Town')}${cell('2024')}${cell('2025')}</a:tr><a:tr>${cell('Orm')}${cell('closed', 'gridSpan="2"')}${cell('', 'hMerge="1"')}</a:tr><a:tr>${cell('Esk')}${cell('5')}${cell('7')}</a:tr></a:tbl>`;
  const { text } = await read(await slidesFile([{ shapes: frame(table) }]));
  expect(text).toContain('- Town: Orm; 2024: closed; 2025: closed\n- Town: Esk; 2024: 5; 2025: 7');
});

test('notes, comments of both kinds, hidden slides, footers once', async () => {
  const notes = part(
    'p:notes',
    `<p:cSld><p:spTree>${shape('sldNum', '1')}${shape('body', 'Say so')}</p:spTree></p:cSld>`,
  );
  const comments = part(
    'p:cmLst',
    '<p:cm authorId="0"><p:text>Old?</p:text></p:cm><p:cm authorId="{B}"><p:replyLst><p:reply authorId="0"><p:txBody><a:p><a:r><a:t>Answer</a:t></a:r></a:p></p:txBody></p:reply></p:replyLst><p:txBody><a:p><a:r><a:t>New?</a:t></a:r></a:p></p:txBody></p:cm>',
  );
  const footer = shape('ftr', 'Mill Lane');
  const bytes = await slidesFile(
    [
      { shapes: shape('title', 'One') + footer, parts: { notesSlide: notes, comments } },
      { shapes: shape('title', 'Two') + footer, attributes: 'show="0"' },
      { shapes: '' },
    ],
    { 'ppt/authors.xml': part('p:authors', '<p:author id="0" name="Ida"/>') },
    { a: ['authors', 'authors.xml'] },
  );
  const { text, pages, warnings } = await read(bytes, 'a.ppsx');
  expect(text).toBe(
    '## One\n\nMill Lane\n\nNotes: Say so\n\n[Comment by Ida: Old?]\n\n[Comment: New?]\n\n[Comment by Ida: Answer]\n\n## Two\n\n(Hidden slide)',
  );
  expect(pages.map(({ label }) => label)).toEqual(['1', '2', '3']);
  expect(warnings).toEqual(['Hidden slides were read and are marked: 2.', 'Slides without text: 3.']);
});

test('automatic numbers, line breaks, formulas, hidden shapes and objects', async () => {
  const numbered = (text: string): string =>
    `<a:p><a:pPr><a:buAutoNum type="alphaLcParenBoth" startAt="2"/></a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const math =
    '<a:p><a:m><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></a:m><a:br/><a:r><a:t>next</a:t></a:r></a:p>';
  const hidden = shape('', 'Unseen').replace('name="x"', 'name="x" hidden="1"');
  const object = frame('<p:oleObj progId="Excel.Sheet.12"/>');
  const { text, warnings } = await read(
    await slidesFile([{ shapes: shape('body', numbered('gate'), numbered('lock'), math) + hidden + object }]),
  );
  expect(text).toBe('(b) gate\n(c) lock\n\n$x=1$\nnext');
  expect(warnings).toEqual([
    'Hidden shapes were left out on slides: 1.',
    'Embedded objects were left out: Excel.Sheet.12 on slide 1.',
  ]);
});

test('what a layout and its master show is read once; their placeholders are only prompts', async () => {
  const tree = (name: string, shapes: string): string =>
    part(name, `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`);
  const layout = tree('p:sldLayout', shape('title', 'Click to add a title') + shape('', 'Waterworks of Orm'));
  const slide = (title: string): { shapes: string; parts: Record<string, string> } => ({
    shapes: shape('title', title),
    parts: { slideLayout: layout },
  });
  const { text } = await read(await slidesFile([slide('One')]));
  expect(text).toBe('## One\n\nWaterworks of Orm');
});

test('a presentation without text says so; a chart without values is named', async () => {
  await expect(read(await slidesFile([{ shapes: '' }]))).rejects.toThrow(
    /^There is no text in it: its slides have no text\. Slides without text: 1\. The file/,
  );
  const { warnings } = await read(
    await slidesFile([{ shapes: shape('', 'x') + frame('<c:chart r:id="gone"/>') }]),
  );
  expect(warnings).toEqual(['Charts that keep no values were left out on slides: 1.']);
});
