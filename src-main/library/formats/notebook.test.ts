import { expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { notebook } from './notebook.ts';

const read = async (book: unknown): Promise<ParsedDocument> =>
  await notebook({
    name: 'a.ipynb',
    bytes: Buffer.from(typeof book === 'string' ? book : JSON.stringify(book)),
  });

test('cells with their outputs', async () => {
  const outputs = [
    { output_type: 'stream', text: ['\u001b[31m1\u001b[0m\n', '10%\r20%\n'] },
    { output_type: 'display_data', data: { 'image/png': 'x', 'text/plain': ['<Figure size 1>'] } },
    {
      output_type: 'execute_result',
      data: { 'text/html': '<table><tr><th><th>a<tr><th>0<td>5</table>', 'text/plain': 'x' },
    },
    { output_type: 'execute_result', data: { 'text/plain': ['4', '2'] } },
    { output_type: 'error', traceback: ['\u001b[0;31mZeroDivisionError\u001b[0m'] },
  ];
  const document = await read({
    cells: [
      { cell_type: 'markdown', source: ['# Weir\n', 'Text.'] },
      { cell_type: 'code', source: 'x = """\n```\n"""\n', outputs },
      { cell_type: 'raw', source: 'raw' },
      { cell_type: 'code', source: '', outputs: [] },
    ],
    metadata: { language_info: { name: 'python' } },
    nbformat: 4,
  });
  expect(document).toEqual({
    text: '# Weir\nText.\n\n````python\nx = """\n```\n"""\n````\n\n```\n1\n20%\n```\n\n- 0; a: 5\n\n```\n42\n```\n\n```\nZeroDivisionError\n```\n\nraw',
    title: 'Weir',
    pages: [],
    warnings: ['Pictures that the code made were not read: 1.'],
  });
});

test('version 3', async () => {
  const cells = [
    { cell_type: 'heading', level: 2, source: 'Weir' },
    { cell_type: 'code', language: 'python', input: ['1'], outputs: [{ output_type: 'pyout', text: ['1'] }] },
  ];
  expect((await read({ worksheets: [{ cells }], nbformat: 3 })).text).toBe(
    '## Weir\n\n```python\n1\n```\n\n```\n1\n```',
  );
});

test.each([
  ['', 'DOCUMENT_NO_TEXT'],
  ['{', 'DOCUMENT_UNREADABLE'],
  ['[]', 'DOCUMENT_UNREADABLE'],
  ['{"cells":7}', 'DOCUMENT_UNREADABLE'],
  ['{"cells":[null,7,{"cell_type":"code","source":{},"outputs":[null,{"data":7}]}]}', 'DOCUMENT_NO_TEXT'],
])('%s', async (source, code) => {
  await expect(read(source)).rejects.toMatchObject({ code });
});
