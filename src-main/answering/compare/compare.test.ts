import { expect, test } from 'vitest';
import { ComparisonSchema, matrixValues, type Comparison } from '../../../src-shared/comparison.ts';
import { CompareRequestSchema, type CompareRequest } from '../../../src-shared/contract/chat.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { fixture, NEW, ofTopic } from '../../testing/chat.ts';

const request = (answerId: string, more: Partial<CompareRequest> = {}): CompareRequest =>
  CompareRequestSchema.parse({ answerId, ...more });

const BLENDED = { ...NEW, strategy: { name: 'query' as const, ratio: 0.15 } };

async function answered(options: Parameters<typeof fixture>[0] = {}, turns = 1) {
  const made = await fixture(options);
  const { id } = made.chat.create(BLENDED);
  let answer = await made.ask(id, 'Where does Mara live?');
  for (let turn = 1; turn < turns; turn++) answer = await made.ask(id, 'And where does Jon live?');
  return { ...made, id, answer };
}

function methodOf({ methods }: Comparison, kind: string) {
  const method = methods.find((candidate) => candidate.kind === kind);
  if (!method) throw new Error(`no method ${kind}`);
  return method;
}

test('an answer is computed in every way and compared with the full prefill, and the result is stored', async () => {
  const { chat, answer, dir, close, model } = await answered();
  const sessionsBefore = model.sessions.length;
  const asked = request(answer.id, { strategies: [{ name: 'deviation', ratio: 0.3 }, { name: 'query', ratio: 0.15 }] }); // prettier-ignore
  const comparison = await chat.comparisons.run(asked);
  expect(ComparisonSchema.parse(comparison)).toEqual(comparison);
  expect(comparison).toMatchObject({ question: 'Where does Mara live?', model: 'Fake', deep: null });
  expect(comparison.methods.map(({ kind, strategy, answered: own }) => [kind, strategy.name, own])).toEqual([
    ['full', 'full', false],
    ['prefix', 'full', false],
    ['reuse', 'none', false],
    ['blend', 'query', true],
    ['blend', 'deviation', false],
  ]);
  const full = methodOf(comparison, 'full');
  expect(full).toMatchObject({ kl: 0, agrees: true, answerF1: 1, residentTokens: 0, reusedTokens: 0 });
  expect(full.text).toBe('She lives in Oslo.');
  expect(full.candidates[0]?.probability).toBeGreaterThan(0.5);
  const prefix = methodOf(comparison, 'prefix');
  expect(prefix).toMatchObject({ kl: 0, reusedTokens: 0 });
  expect(prefix.residentTokens).toBeGreaterThan(0);
  const reuse = methodOf(comparison, 'reuse');
  expect(reuse.reusedTokens).toBeGreaterThan(0);
  expect(reuse.kl).toBeGreaterThan(0);
  expect(prefix.residentTokens + reuse.reusedTokens).toBeLessThan(comparison.promptTokens);
  expect(model.sessions.slice(sessionsBefore).every(({ disposed }) => disposed)).toBe(true);

  expect(chat.comparisons.status(answer.id)).toEqual({ comparison, running: false });
  await close();
  const again = await fixture({ dir });
  expect(again.chat.comparisons.status(answer.id).comparison).toEqual(comparison);
});

test('what the model thinks is kept apart from what it answers, and compared with it', async () => {
  const thought = 'Mara is in the first passage.';
  const thinks = `<think>\n${thought}\n</think>\n\nShe lives in Oslo.`;
  const { chat, answer, model } = await answered({ model: new FakeModel({ says: thinks }) });
  const compared = methodOf(await chat.comparisons.run(request(answer.id)), 'full');
  expect(compared).toMatchObject({ thought, text: 'She lives in Oslo.', complete: true, answerF1: 1 });
  model.says = `<think>\n${thought.repeat(20)}`;
  const short = await chat.comparisons.run(request(answer.id, { answerTokens: 16 }));
  expect(methodOf(short, 'full')).toMatchObject({ text: '', complete: false });
  expect(methodOf(short, 'full').thought).toMatch(/^Mara is in/);
});

test('a deep comparison gives the distance of every token per layer, and the effect of the ratio', async () => {
  const { chat, answer, model } = await answered();
  const comparison = await chat.comparisons.run(request(answer.id, { deep: true }));
  const { layers } = model.info;
  expect(ComparisonSchema.parse(comparison)).toEqual(comparison);
  expect(methodOf(comparison, 'full').deep).toBeNull();
  expect(methodOf(comparison, 'prefix').deep).toBeNull();
  const { deep, reusedTokens } = methodOf(comparison, 'reuse');
  expect(deep?.v).toMatchObject({ rows: layers, columns: comparison.promptTokens });
  const parts = comparison.deep?.parts ?? [];
  const cached = parts.filter((part) => part.cached);
  expect(cached.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(reusedTokens);
  // The model reports distance 1 for reused tokens and 0 for all others.
  const values = matrixValues(deep!.v);
  for (const { start, tokens, cached: reused } of parts) {
    const part = values.subarray(start, start + tokens);
    expect(part.every((value) => value === (reused ? 1 : 0))).toBe(true);
  }
  expect(deep?.layers[1]).toMatchObject({
    v: { recomputed: null, stored: { tokens: reusedTokens, mean: 1, p95: 1 } },
    k: { stored: { mean: 2 } },
  });
  expect(deep?.rankCorrelation).toHaveLength(layers - 1);
  expect(deep?.concentration[2]?.[0]).toBe(0);
  expect(deep?.concentration[2]?.[10]).toBeCloseTo(0.5, 6);
  expect(deep?.concentration[2]?.[20]).toBeCloseTo(1, 6);
  expect(comparison.deep?.tokens.join('')).toContain('Mara Lind lives in Oslo');
  expect(parts.filter(({ kind }) => kind === 'chunk').map(({ title }) => title)).toContain('mara.md');
  const { sweep } = comparison.deep!;
  expect(sweep.strategy).toBe('query');
  expect(sweep.points.map(({ ratio }) => ratio)).toEqual([0, 0.05, 0.15, 0.3, 0.5]);
  expect(sweep.points[0]).toMatchObject({ kl: methodOf(comparison, 'reuse').kl });
  expect(sweep.points[0]?.attention).toHaveLength(layers);
});

test('earlier turns are in memory for every way but the full prefill', async () => {
  const { chat, answer } = await answered({}, 2);
  const comparison = await chat.comparisons.run(request(answer.id));
  expect(methodOf(comparison, 'full').residentTokens).toBe(0);
  const { residentTokens } = methodOf(comparison, 'reuse');
  expect(residentTokens).toBeGreaterThan(20);
  expect(methodOf(comparison, 'blend').residentTokens).toBe(residentTokens);
  expect(methodOf(comparison, 'prefix').residentTokens).toBeGreaterThanOrEqual(residentTokens);
});

test('progress is reported; one runs at a time; a stopped one leaves nothing', async () => {
  let onToken = (): void => undefined;
  const { chat, answer, model, events } = await answered({ beforeToken: async () => onToken() });
  const sessionsBefore = model.sessions.length;
  onToken = () => chat.comparisons.stop(); // in the middle of it, however fast it is
  const running = chat.comparisons.run(request(answer.id));
  expect(chat.comparisons.status(answer.id)).toEqual({ comparison: null, running: true });
  await expect(chat.comparisons.run(request(answer.id))).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  expect(ofTopic(events, 'compare.progress')[0]?.payload).toMatchObject({ answerId: answer.id, total: 4 });
  await expect.poll(() => chat.comparisons.status(answer.id)).toEqual({ comparison: null, running: false });
  expect(model.sessions.slice(sessionsBefore).every(({ disposed }) => disposed)).toBe(true);
  await expect(chat.comparisons.run(request('999'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a question that is asked meanwhile gets its turn between two ways', async () => {
  const { chat, answer, ask } = await answered();
  const order: string[] = [];
  const running = chat.comparisons.run(request(answer.id, { deep: true })).then(() => order.push('compared'));
  const asked = ask(chat.create(NEW).id, 'Where does Jon live?').then(() => order.push('answered'));
  await Promise.all([running, asked]);
  expect(order).toEqual(['answered', 'compared']);
});

test('an answer is compared only with the model that made it', async () => {
  const { chat, answer, models } = await answered();
  const other = { name: 'Other', model: new FakeModel({ fingerprint: 'e'.repeat(64) }) };
  const running = chat.comparisons.run(request(answer.id));
  await Promise.resolve();
  models.change(other);
  await expect(running).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(chat.comparisons.run(request(answer.id))).rejects.toThrow(/only be rebuilt with the model/);
});
