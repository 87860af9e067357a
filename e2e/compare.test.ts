/** Comparisons of one answer's prompt by several methods, with the real engine and the demo model: properties that hold for any text. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { matrixValues, type ComparedMethod, type Comparison } from '../src-shared/comparison.ts';
import { App } from '../src-main/app.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

let dir: string;
let app: App;
let comparison: Comparison;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-compare-'));
  app = await App.open({ dataDir: await readyData(join(dir, 'data')) });
  await readLibrary(app);
  const { id } = app.chat.create({
    scope: { libraryIds: [], documentIds: [] },
    strategy: { name: 'deviation', ratio: 0.15 },
  });
  const { answerId } = app.chat.send(id, 'Where does Project Polaris run?');
  await app.chat.idle();
  const strategies = [{ name: 'deviation' as const, ratio: 1 }];
  comparison = await app.chat.comparisons.run({ answerId, strategies, deep: true, answerTokens: 16 });
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

function method(kind: ComparedMethod['kind'], ratio?: number): ComparedMethod {
  const found = comparison.methods.find(
    (candidate) => candidate.kind === kind && (ratio === undefined || candidate.strategy.ratio === ratio),
  );
  if (!found) throw new Error(`no ${kind}`);
  return found;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

test('prefix caching gives the same answer as the full prefill', () => {
  const [full, prefix] = [method('full'), method('prefix')];
  expect(prefix.residentTokens).toBeGreaterThan(0);
  expect(prefix.kl).toBeLessThan(1e-3); // rows are batched differently, so not bit-identical
  expect(prefix.agrees).toBe(true);
  expect(prefix.text).toBe(full.text);
  expect(full.candidates[0]?.probability).toBeGreaterThan(full.candidates[1]?.probability ?? 1);
});

test('ratio 1 is bit-identical to the full prefill, including the text', () => {
  const { deep, kl, text } = method('blend', 1);
  expect(kl).toBe(0);
  expect(text).toBe(method('full').text);
  for (const matrix of [deep!.v, deep!.k])
    expect(matrixValues(matrix).every((value) => value === 0)).toBe(true);
  expect(sum(deep!.layers.map(({ attention }) => attention))).toBe(0);
});

test('text before the first passage does not deviate; reused passages do, increasingly with position', () => {
  const { deep } = method('reuse');
  const { rows, columns } = deep!.v;
  const values = matrixValues(deep!.v);
  const mean = (from: number, to: number): number => {
    const inRange = Array.from({ length: rows - 1 }, (_, layer) =>
      values.subarray((layer + 1) * columns + from, (layer + 1) * columns + to),
    );
    return sum(inRange.map((part) => part.reduce((all, value) => all + value, 0))) / (to - from);
  };
  const chunks = comparison.deep!.parts.filter(({ cached }) => cached);
  expect(chunks.length).toBeGreaterThan(2);
  const [first, last] = [chunks[0]!, chunks.at(-1)!];
  expect(mean(0, first.start)).toBeLessThan(1e-4 * mean(last.start, last.start + last.tokens));
  for (const { v, attention } of deep!.layers.slice(1)) {
    expect(v.recomputed).toBeNull();
    expect(v.stored?.mean).toBeGreaterThan(0);
    expect(attention).toBeGreaterThan(0);
    expect(attention).toBeLessThan(Math.SQRT2);
  }
});

test('recomputing brings KV and attention closer to the full prefill (figure 6)', () => {
  const points = comparison.deep!.sweep.points;
  expect(points.map(({ ratio }) => ratio)).toEqual([0, 0.05, 0.15, 0.3, 0.5]);
  const attention = points.map((point) => sum(point.attention));
  expect(attention.at(-1)).toBeLessThan(0.7 * (attention[0] ?? 0));
  expect(sum(points.at(-1)!.v)).toBeLessThan(0.7 * sum(points[0]!.v));
  expect(points.map(({ recomputedTokens }) => recomputedTokens)).toEqual(
    points.map(({ recomputedTokens }) => recomputedTokens).toSorted((a, b) => a - b),
  );
  const blended = method('blend', 0.15);
  expect(blended.answered).toBe(true);
  expect(points[2]?.attention).toEqual(blended.deep?.layers.map(({ attention: of }) => of));
});

test('few tokens have much of the deviation, and mostly the same ones in every layer (figures 7 and 8)', () => {
  const { deep } = method('reuse');
  for (const shares of deep!.concentration.slice(2)) {
    expect(shares).toHaveLength(21);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[4]).toBeGreaterThan(0.3); // the most deviating 20 %
    expect(shares[20]).toBeCloseTo(1, 5);
  }
  for (const correlation of deep!.rankCorrelation.slice(2)) expect(correlation).toBeGreaterThan(0.5);
});

test('the outcome is stored with the answer', () => {
  expect(app.chat.comparisons.status(comparison.answerId)).toEqual({ comparison, running: false });
});
