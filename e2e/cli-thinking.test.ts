/** `ask` with a thinking model, through the command line: its template opens a thought that it never closes. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  DOCUMENTS,
  makeModel,
  QUESTION,
  removeDir,
  tempDir,
  writeFiles,
  type CliResult,
} from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { withMetadata } from './support/gguf-metadata.ts';

const TEMPLATE = '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: <think>\n';

let dir: string;
let ask: (...flags: string[]) => Promise<CliResult>;

beforeAll(() => {
  dir = tempDir();
  const library = writeFiles(join(dir, 'library'), DOCUMENTS);
  const model = join(dir, 'thinks.gguf');
  const key = 'tokenizer.chat_template';
  withMetadata(makeModel(join(dir, 'model.gguf')), model, { without: key, values: { [key]: TEMPLATE } });
  const base = [
    'ask',
    '--data',
    join(dir, 'data'),
    '--library',
    library,
    '--model',
    model,
    '--max-tokens',
    '12',
  ];
  ask = (...flags) => runHere([...base, ...flags, QUESTION]);
});
afterAll(() => removeDir(dir));

test('a thought is not an answer, and is shown only on request', async () => {
  const plain = await ask();
  expect([plain.code, plain.stdout.trim()]).toEqual([0, '']);
  expect(plain.stderr).toContain('the model was still thinking when the limit was reached');
  expect(plain.stderr).not.toContain('Thought:');
  const shown = await ask('--thinking');
  expect([shown.code, shown.stdout.trim()]).toEqual([0, '']);
  expect(shown.stderr).toMatch(/^Thought: ./m);
});

test('--json has it only on request', async () => {
  const json = async (...flags: string[]): Promise<unknown> =>
    JSON.parse((await ask('--json', ...flags)).stdout);
  expect(await json()).not.toHaveProperty('thinking');
  expect(await json('--thinking')).toMatchObject({
    answer: '',
    thinking: expect.stringMatching(/./) as string,
  });
});
