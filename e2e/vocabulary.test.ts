/** Document text with the vocabularies of model families: no text produces a control token. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { textMarksOf } from '../src-main/answering/text-marks.ts';
import { App } from '../src-main/app.ts';
import { Engine } from '../src-main/engine/engine.ts';
import { FAMILIES, vocabularyFile, type Family } from './support/vocabularies.ts';

let engine: Engine;
let dir: string;

beforeAll(() => {
  engine = Engine.open();
  dir = mkdtempSync(join(tmpdir(), 'kvasir-vocabulary-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** SentencePiece adds a space before separately tokenised text; WordPiece keeps neither spaces nor capitals. */
function letters(text: string): string {
  return text.replaceAll(' ', '').toLowerCase();
}

describe.each(Object.entries(FAMILIES))('%s', (name, family) => {
  const marks = [...family.control, ...(family.userDefined ?? []), ...(family.plain ?? [])];

  test('no control mark in a text becomes its token; in a template all of them do', async () => {
    const model = await engine.loadModel(vocabularyFile(join(dir, `${name}.gguf`), family), {
      device: 'cpu',
    });
    onTestFinished(() => model.dispose());
    expect(textMarksOf(model)).toEqual([]);
    const ids = new Map(marks.map((mark) => [mark, [...model.tokenize(mark, { special: true })]]));
    for (const [mark, special] of ids) {
      expect(special, mark).toHaveLength(1);
      for (const text of [mark, `a${mark}b`, `${mark}${mark}`, `<${mark}>`, `one ${mark}\n\ntwo`])
        expect([...model.tokenize(text)], text).not.toContain(special[0]);
    }
    const all = `before${marks.join('')}after`;
    expect(letters(model.detokenize(model.tokenize(all)))).toBe(letters(all));
  });

  test('other text is unchanged', async () => {
    const model = await engine.loadModel(vocabularyFile(join(dir, `${name}.gguf`), family), {
      device: 'cpu',
    });
    onTestFinished(() => model.dispose());
    const text = 'Is a < b, and [this] > <that>?';
    expect(letters(model.detokenize(model.tokenize(text)))).toBe(letters(text));
    expect(model.tokenize(text)).toEqual(model.tokenize(text, { special: true }));
  });
});

test.each([
  ['has all marks of its template', {}, undefined],
  ['lacks some', { userDefined: ['<start_of_image>'] }, ['<end_of_turn>', '<start_of_turn>']],
])('the list names the marks that a model reads as text: one that %s', async (what, changes, textMarks) => {
  const family = { ...(FAMILIES['gemma 3'] as Family), ...changes };
  const app = await App.open({ dataDir: join(dir, what) });
  onTestFinished(() => app.close());
  const { id } = await app.models.import(vocabularyFile(join(dir, `${what}.gguf`), family));
  expect(app.models.get(id).textMarks).toBeUndefined();
  await app.loader.activate(id);
  expect(app.models.list().find((model) => model.id === id)?.textMarks).toEqual(textMarks);
});
