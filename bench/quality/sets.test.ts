import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { arranged, loadSet } from './sets.ts';

function file(name: string, text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-sets-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

test('our own worlds have 200 questions of five kinds, questions for calibration, and the passages that each needs', () => {
  const { questions, scores } = loadSet('worlds');
  expect(questions).toHaveLength(225);
  expect(scores[0]).toBe('added');
  expect(new Set(questions.map(({ kind }) => kind)).size).toBe(5);
  for (const { needs, passages, fact, kind, references } of questions) {
    expect(needs?.every((place) => place < passages.length)).toBe(true);
    expect(references.join().toLowerCase()).toContain(fact!.toLowerCase());
    if (kind === 'one hop, first') expect(passages[needs![0]!]).toContain(fact);
  }
});

test('a subset has the needed passages and some others, in order or shuffled, deterministically', () => {
  const question = loadSet('worlds').questions.find(({ kind }) => kind === 'two hops')!;
  const needed = question.needs!.map((place) => question.passages[place]);
  for (const options of [{ passages: 6 }, { passages: 6, shuffled: true }, { shuffled: true }]) {
    const made = arranged(question, 4, options);
    expect(made.passages).toHaveLength(options.passages ?? question.passages.length);
    expect(made.needs!.map((place) => made.passages[place])).toEqual(needed);
    expect(arranged(question, 4, options)).toEqual(made);
    const order = made.passages.map((passage) => question.passages.indexOf(passage));
    expect(order.every((place, i) => i === 0 || place > order[i - 1]!)).toBe(options.shuffled !== true);
  }
  expect(arranged(question, 4, { passages: 500 })).toBe(question);
});

test("CacheBlend's format", () => {
  const set = loadSet(
    file(
      'musique_s.json',
      JSON.stringify([
        {
          ctxs: [{ title: 'Riga', text: 'A city.' }, { text: 'A river.' }],
          question: 'Where?',
          answers: ['Riga', 'in Riga'],
        },
      ]),
    ),
  );
  expect(set).toMatchObject({ name: 'musique_s', scores: ['f1', 'exact', 'holds'] });
  expect(set.questions[0]).toMatchObject({
    passages: ['Riga\n\nA city.\n\n', 'A river.\n\n'],
    ask: 'Question: Where?',
    references: ['Riga', 'in Riga'],
  });
});

test("LongBench's format, with the suite's own prompts", () => {
  const line = {
    input: 'Where?',
    context: 'Passage 1:\nRiga\nA city.\n\nPassage 2:\nA river.',
    answers: ['Riga'],
    dataset: 'hotpotqa',
  };
  const prompts = file(
    'dataset2prompt.json',
    JSON.stringify({ hotpotqa: 'Read.\n{context}\nNow: {input}\nAnswer:' }),
  );
  const [question] = loadSet(file('hotpotqa.jsonl', `${JSON.stringify(line)}\n`), prompts).questions;
  expect(question).toMatchObject({
    passages: ['Passage 1:\nRiga\nA city.\n\n', 'Passage 2:\nA river.'],
    before: 'Read.\n',
    ask: '\nNow: Where?\nAnswer:',
  });
  const samsum = loadSet(file('samsum.jsonl', JSON.stringify({ ...line, dataset: 'samsum' })));
  expect(samsum.scores).toEqual(['rougeL']);
  expect(samsum.questions[0]).toMatchObject({ bare: true, firstLine: true, maxTokens: 128 });
});

test("RULER's format: documents", () => {
  const input =
    'Use the documents.\n\nDocument 1:\nRiga.\n\nDocument 2:\nA river.\n\nUse them.\n\nQuestion: Where? Answer:';
  const set = loadSet(file('qa_1.jsonl', JSON.stringify({ input, outputs: ['Riga'] })));
  expect(set.scores).toEqual(['holds']);
  expect(set.questions[0]).toMatchObject({
    before: 'Use the documents.\n\n',
    passages: ['Document 1:\nRiga.\n\n', 'Document 2:\nA river.\n\n'],
    ask: 'Use them.\n\nQuestion: Where? Answer:',
    references: ['Riga'],
  });
});

test("RULER's format: one long text between instructions and question, several answers", () => {
  const input = 'Numbers are hidden here.\nGrass. One is 7.\nSky. One is 9.\nWhich numbers?';
  const line = { input, outputs: ['7', '9'], answer_prefix: ' They are' };
  const set = loadSet(file('niah_multivalue.jsonl', JSON.stringify(line)));
  expect(set.scores).toEqual(['holdsAll']);
  expect(set.questions[0]).toMatchObject({
    before: 'Numbers are hidden here.\n',
    passages: ['Grass. One is 7.\nSky. One is 9.\n'],
    ask: 'Which numbers? They are',
    maxTokens: 128,
  });
});

test('an unknown format is an error', () => {
  expect(() => loadSet(file('a.jsonl', '{"text": 1}'))).toThrow(
    "Line 1 of a matches neither LongBench's nor RULER's format.",
  );
  expect(() => loadSet(file('a.json', '{}'))).toThrow('not a list of questions');
});
