import { expect, test } from 'vitest';
import { csv } from './csv.ts';
import type { ParsedDocument } from './format.ts';

function read(text: string): ParsedDocument {
  return csv({ name: 'a.csv', bytes: Buffer.from(text) }) as ParsedDocument;
}

const cases: [what: string, file: string, text: string][] = [
  [
    'a column without a name',
    ',city,mayor\n0,Orm,Ida Voss\n1,Hollin,Per Lund\n',
    '- 0; city: Orm; mayor: Ida Voss\n- 1; city: Hollin; mayor: Per Lund',
  ],
  ['two columns, the first without a name', ',rain\n0,73\n1,41\n', '- 0; rain: 73\n- 1; rain: 41'],
  [
    'a column without values',
    'name,joined,left\nAda,1998,\nBo,2004,\n',
    '- name: Ada; joined: 1998\n- name: Bo; joined: 2004\n- Columns without values: left',
  ],
  ['doubled names', 'a,a,b\n1,2,3\n', '- a: 1; a: 2; b: 3'],
  [
    'a title, and a blank line',
    'Members of the Esk club\n\nname,joined\nAda,1998\nBo,2004\n',
    'Members of the Esk club\n\n- name: Ada; joined: 1998\n- name: Bo; joined: 2004',
  ],
  [
    'a title directly above',
    'Members,,\nname,joined,town\nAda,1998,Orm\n',
    'Members\n\n- name: Ada; joined: 1998; town: Orm',
  ],
  [
    'comment lines',
    '# made by logger 3\n# unit: mm\nday,rain\n1,73\n2,41\n',
    '# made by logger 3\n# unit: mm\n\n- day: 1; rain: 73\n- day: 2; rain: 41',
  ],
  ['names in a comment line', '#id,name\n1,Ada\n', '- id: 1; name: Ada'],
  [
    'years as names',
    'Town,2024,2025\nOrm,11,12\nHollin,21,22\n',
    '- Town: Orm; 2024: 11; 2025: 12\n- Town: Hollin; 2024: 21; 2025: 22',
  ],
  ['one year as a name', 'Town,2024\nOrm,11\n', '- Town: Orm; 2024: 11'],
  ['numbered columns', 'Town,1,2,3\nOrm,5,9,7\n', '- Town: Orm; 1: 5; 2: 9; 3: 7'],
  ['no header: numbers', 'Ada,1998\nBo,2004\nCy,2010\n', '- Ada | 1998\n- Bo | 2004\n- Cy | 2010'],
  ['no header: dates', '2026-01-02,rain\n2026-01-03,sun\n', '- 2026-01-02 | rain\n- 2026-01-03 | sun'],
  [
    'no header: the first values recur',
    'rye,north\noats,south\nrye,south\n',
    '- rye | north\n- oats | south\n- rye | south',
  ],
  ['a header alone', 'city,country\n', '- city | country'],
  ["Excel's line for the delimiter", 'sep=;\nname;size\npipe;1,5\n', '- name: pipe; size: 1,5'],
  ['tabs', 'name\tsize\npipe\t1,5\n', '- name: pipe; size: 1,5'],
  ['bars', 'name|size\npipe|1,5\n', '- name: pipe; size: 1,5'],
  [
    'quoted cells',
    'name,text\na,"x ""y"", z"\nb,"two\nlines"\n',
    '- name: a; text: x "y", z\n- name: b; text: two lines',
  ],
  [
    'a sentence over two lines',
    'name,text\na,"Dear all,\nbye, you"\n',
    '- name: a; text: Dear all, bye, you',
  ],
  [
    'inches',
    'name,size\npipe,3"\nrod,"4\nbar,5\n',
    '- name: pipe; size: 3"\n- name: rod; size: "4\n- name: bar; size: 5',
  ],
  [
    'a stray quote that a later one seems to close',
    'name,size\nrod,"4\nbar,5\npipe,3"\nlamp,6\n',
    '- name: rod; size: "4\n- name: bar; size: 5\n- name: pipe; size: 3"\n- name: lamp; size: 6',
  ],
  ['names in two rows', 'Town,2024,2024\n,Q1,Q2\nOrm,1,2\n', '- Town: Orm; 2024 Q1: 1; 2024 Q2: 2'],
  [
    'several tables',
    'Town,Bridges\nOrm,7\n\nHollin,3\n\nShip,Crew\nAurora,12\n',
    '- Town: Orm; Bridges: 7\n- Town: Hollin; Bridges: 3\n\n- Ship: Aurora; Crew: 12',
  ],
];

test.each(cases)('%s', (_, file, text) => {
  expect(read(file).text).toBe(text);
});

test('rows with too many cells, and stray quotes, are told', () => {
  expect(read('a,b\n1,2\n3,4,5\n6,"7\n').warnings).toEqual([
    'Rows with more cells than the others: 3.',
    'Quotation marks without a partner were read as text: 1.',
  ]);
  expect(read('a,b\n1,2\n3\n').warnings).toEqual([]);
});

test('long tables keep their names to the end', () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `Town ${i},${i}`);
  const lines = read(`Town,Bridges\n${rows.join('\n')}\n`).text.split('\n');
  expect(lines).toHaveLength(3000);
  expect(lines.at(-1)).toBe('- Town: Town 2999; Bridges: 2999');
});

test('a table without text', () => {
  expect(() => read(' ,\n,\n')).toThrow(expect.objectContaining({ code: 'DOCUMENT_NO_TEXT' }) as Error);
});
