import { expect, test } from 'vitest';
import { archive } from '../../../testing/office-files.ts';
import type { ParsedDocument } from '../format.ts';
import { parserOf } from '../formats.ts';

const NAMESPACES = [
  'office',
  'text',
  'table',
  'style',
  'draw',
  'fo',
  'presentation',
  'chart',
  'dc',
  'manifest',
  'xlink',
]
  .map((name) => `xmlns:${name}="urn:${name}"`)
  .join(' ');

async function read(bytes: Buffer, name = 'a.odt'): Promise<ParsedDocument> {
  return (await parserOf(name.replace(/^.*\./, '')))({ name, bytes });
}

const content = (kind: string, body: string, styles = ''): string =>
  `<?xml version="1.0"?><office:document-content ${NAMESPACES}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`;

function file(kind: string, body: string, styles = '', others: Record<string, string> = {}): Promise<Buffer> {
  return archive({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': content(kind, body, styles),
    ...others,
  });
}

const common = `<office:document-styles ${NAMESPACES}><office:styles>
  <text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>
  <text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/><text:list-level-style-bullet text:level="2"/></text:list-style>
  <style:style style:name="Gone"><style:text-properties text:display="none"/></style:style></office:styles>
  <office:master-styles><style:master-page style:name="Standard"><style:header><text:p>Lease <text:tab/>Page <text:page-number>1</text:page-number></text:p></style:header></style:master-page><style:master-page style:name="Other"><style:header><text:p>Not used</text:p></style:header></style:master-page></office:master-styles></office:document-styles>`;

test('headings, lists, hidden text, changes, notes, comments and headers', async () => {
  const body = `<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>
    <text:h text:outline-level="1">Rent</text:h><text:h text:outline-level="2">Amount</text:h>
    <text:p>It is<text:s text:c="2"/>840<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Crowns.</text:p></text:note-body></text:note>.<office:annotation><dc:creator>Ida</dc:creator><text:p>Why?</text:p></office:annotation></text:p>
    <text:p text:style-name="Gone">secret</text:p><text:section text:display="none"><text:p>secret</text:p></text:section>
    <text:list text:style-name="L"><text:list-item><text:p>gate</text:p><text:list><text:list-item><text:p>left</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>lock</text:p></text:list-item></text:list>
    <text:p>Below<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame></text:p>`;
  const { text, warnings, title } = await read(await file('text', body, '', { 'styles.xml': common }));
  expect(text).toBe(
    'Lease\n\n# 1 Rent\n\n## 1.1 Amount\n\nIt is 840[1].\n\n[1] Crowns.\n\n[Comment by Ida: Why?]\n\n(a) gate\n  - left\n(b) lock\n\nBelow\n\nBoxed',
  );
  expect(title).toBe('1 Rent');
  expect(warnings).toEqual([
    'Tracked changes were read as accepted: 1 deletion.',
    'Hidden text was left out: 2 pieces.',
  ]);
});

test('a picture with a description', async () => {
  const frame = (inner: string): string => `<draw:frame><draw:image/>${inner}</draw:frame>`;
  const body = `<text:p>Orm${frame('<svg:title xmlns:svg="svg">Weir</svg:title><svg:desc xmlns:svg="svg">The weir in flood</svg:desc>')}</text:p>${frame('<svg:title xmlns:svg="svg">A lamp</svg:title>')}${frame('')}`;
  const { text } = await read(await file('text', body));
  expect(text).toBe('Orm\n\nThe weir in flood\n\nA lamp');
});

test('tables with merged cells, formulas and charts', async () => {
  const cell = (text: string, attributes = ''): string =>
    `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
  const row = (...cells: string[]): string => `<table:table-row>${cells.join('')}</table:table-row>`;
  const table = `<table:table><table:table-header-rows>${row(cell('Town'), cell('Bridges'))}</table:table-header-rows>${row(cell('Orm', 'table:number-rows-spanned="2"'), cell('7'))}${row('<table:covered-table-cell/>', cell('3'))}</table:table>`;
  const object = (name: string): string =>
    `<draw:frame><draw:object xlink:href="./${name}"/><draw:image/></draw:frame>`;
  const body = `${table}<text:p>Lift ${object('F')} holds.</text:p><text:p>${object('C')}</text:p>`;
  const chart = content(
    'chart',
    `<chart:chart><chart:title><text:p>Rain</text:p></chart:title><table:table>${row(cell('Month'), cell('Rain'))}${row(cell('March'), cell('73'))}</table:table></chart:chart>`,
  );
  const math =
    '<math xmlns="m"><semantics><mrow><mi>L</mi><mo>=</mo><msup><mi>w</mi><mn>2</mn></msup></mrow><annotation>L=w^2</annotation></semantics></math>';
  const manifest = `<manifest:manifest ${NAMESPACES}><manifest:file-entry manifest:full-path="F/content.xml"/><manifest:file-entry manifest:full-path="C/content.xml"/></manifest:manifest>`;
  const bytes = await file('text', body, '', {
    'F/content.xml': math,
    'C/content.xml': chart,
    'META-INF/manifest.xml': manifest,
  });
  expect((await read(bytes)).text).toBe(
    '- Town: Orm; Bridges: 7\n- Town: Orm; Bridges: 3\n\nLift $L=w^2$ holds.\n\nChart: Rain\n- Month: March; Rain: 73',
  );
});

test('slides with titles, notes and hidden ones; one XML file', async () => {
  const styles =
    '<style:style style:name="H"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>';
  const box = (text: string, kind = 'outline'): string =>
    `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
  const body = `<draw:page>${box('Water', 'title')}${box('The Esk rose.')}<presentation:notes>${box('Say so')}</presentation:notes></draw:page><draw:page draw:style-name="H">${box('Old')}</draw:page>`;
  const expected = '## Water\n\nThe Esk rose.\n\nNotes: Say so\n\n(Hidden slide)\n\nOld';
  const parsed = await read(await file('presentation', body, styles), 'a.odp');
  expect(parsed.text).toBe(expected);
  expect(parsed.warnings).toEqual(['Hidden slides were read and are marked: 2.']);
  const flat = content('presentation', body, styles).replaceAll('office:document-content', 'office:document');
  expect((await read(Buffer.from(flat), 'a.fodp')).text).toBe(expected);
});

test('a file with a password, and an empty one', async () => {
  const manifest = `<manifest:manifest ${NAMESPACES}><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
  const locked = await file('text', '', '', { 'META-INF/manifest.xml': manifest });
  await expect(read(locked)).rejects.toMatchObject({ code: 'DOCUMENT_ENCRYPTED' });
  await expect(read(await file('text', '<text:p/>'))).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
});
