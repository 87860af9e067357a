import { describe, expect, test } from 'vitest';
import { fullPrefill, prefixCaching, type MethodAnswer } from './methods.ts';
import { drawQuestions, type SteadyChunk, type SteadyQuestion } from './questions.ts';
import { steadyRows } from './summary.ts';

const WORDS = 'amber birch cedar delta ember fjord grove heron inlet jetty knoll larch meadow north ocean';

/** Ten documents of ten chunks. */
const CHUNKS = Array.from({ length: 100 }, (_, id): SteadyChunk => {
  const documentId = Math.floor(id / 10);
  const tokens = new Int32Array(10);
  return {
    id,
    documentId,
    title: `Document ${documentId}`,
    text: `${WORDS} word${id}`,
    tokens,
    lead: tokens,
  };
});

const pick = (...ids: number[]): SteadyChunk[] => CHUNKS.filter(({ id }) => ids.includes(id));

describe('questions', () => {
  const find = (question: string) => ({
    passages: CHUNKS.filter(({ title }) => question.includes(`${title} `)),
    below: [],
  });
  const draw = (seed: number) => drawQuestions(CHUNKS, find, { count: 200, seed });

  test('all differ, in order of time, and are the same for the same seed', () => {
    const questions = draw(1);
    expect(questions).toHaveLength(200);
    expect(new Set(questions.map(({ text }) => text)).size).toBe(200);
    expect(questions.map(({ at }) => at)).toEqual(questions.map(({ at }) => at).sort((a, b) => a - b));
    expect(draw(1)).toEqual(questions);
    expect(draw(2)).not.toEqual(questions);
  });

  test('some documents are asked about far more than others, and more than half are follow-ups', () => {
    const questions = draw(1);
    const counts = [...Map.groupBy(questions, ({ passages }) => passages[0]?.documentId).values()]
      .map(({ length }) => length)
      .sort((a, b) => b - a);
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBeGreaterThan(200 * 0.4);
    const followUps = questions.filter((question) => question.class === 'follow-up').length;
    expect(followUps / 200).toBeGreaterThan(0.5);
    expect(followUps / 200).toBeLessThan(0.85);
  });

  test('a library too small for so many questions is refused', () => {
    expect(() => drawQuestions(CHUNKS, () => ({ passages: [], below: [] }), { count: 5, seed: 1 })).toThrow(
      /make it larger/,
    );
  });
});

describe('prefix caching', () => {
  const ask = (...ids: number[]): SteadyQuestion => ({
    ...{ at: 0, class: 'question', text: '', below: [] },
    passages: ids.map((id) => CHUNKS[id] as SteadyChunk),
  });
  const answerer = { prefill: async (_: SteadyQuestion, past: number) => past, bytesOf: () => 1 };

  test('counts passages while all before them are the same', async () => {
    const method = prefixCaching(answerer, 100);
    const cached: number[] = [];
    for (const question of [ask(1, 2, 3), ask(1, 2, 4), ask(2, 1, 3), ask(1, 2, 3)])
      cached.push((await method.answer(question)).cachedTokens / 10);
    expect(cached).toEqual([0, 2, 0, 3]);
  });

  test('keeps to its budget: the least recently used leaves, the end of a prompt before its beginning', async () => {
    const method = prefixCaching(answerer, 3);
    await method.answer(ask(1, 2));
    expect(await method.answer(ask(5, 6))).toMatchObject({ heldBytes: 3, writtenBytes: 4 });
    expect(await method.answer(ask(1, 2))).toMatchObject({ ms: 1, cachedTokens: 10 });
  });
});

test('figures are of the last fifty questions before a mark, against the full prefill of the same', async () => {
  const answers = (ms: (i: number) => number, cached: (i: number) => number): MethodAnswer[] =>
    Array.from({ length: 100 }, (_, i) => ({
      ...{ ms: ms(i), tokens: 10, cachedTokens: cached(i), heldBytes: i, writtenBytes: 2 * i },
    }));
  const full = fullPrefill({ prefill: async () => 8 });
  expect(
    await full.answer({ at: 0, class: 'question', text: '', passages: pick(1, 2), below: [] }),
  ).toMatchObject({
    ...{ ms: 8, tokens: 20, cachedTokens: 0 },
  });
  const runs = [
    {
      name: 'ours',
      answers: answers(
        (i) => (i < 50 ? 4 : 2),
        (i) => (i < 50 ? 0 : 9),
      ),
    },
    {
      name: full.name,
      answers: answers(
        () => 8,
        () => 0,
      ),
    },
  ];
  expect(steadyRows(runs, [50, 100, 200]).slice(0, 2)).toEqual([
    { method: 'ours', from: 1, to: 50, hitRate: 0, ofFull: 0.5, heldBytes: 49, writtenBytes: 98 },
    { method: 'ours', from: 51, to: 100, hitRate: 0.9, ofFull: 0.25, heldBytes: 99, writtenBytes: 198 },
  ]);
});
