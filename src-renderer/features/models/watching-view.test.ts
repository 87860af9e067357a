import { expect, test } from 'vitest';
import type { WatchedAnswer, WatchedLibrary } from '../../../src-shared/contract/watching.ts';
import { agreementChart, klChart, verdictOf } from './watching-view.ts';

const RULES = { floor: { maxKl: 0.05, minAgreement: 0.97 }, fewest: 3 };
const WORDS = { x: 'answers', kl: 'KL', agreement: 'same', mean: 'mean', interval: 'interval', limit: 'limit', number: String, percent: String }; // prettier-ignore

function answer(kl: number, agreement = 1): WatchedAnswer {
  return { measuredMs: 0, kl, agreement, ratio: 0.15 };
}

function seen(more: Partial<WatchedLibrary>): WatchedLibrary {
  const { answers = [] } = more;
  return {
    modelId: 'm',
    libraryId: '1',
    answers,
    counted: answers.length,
    kl: null,
    agreement: null,
    leastRatio: 0,
    ...more,
  };
}

test('what follows is said by what was decided, then by how many there are, then by the means', () => {
  const kl = { mean: 0.01, low: 0, high: 0.02 };
  expect(verdictOf(seen({ leastRatio: 1 }), RULES)).toBe('stopped');
  expect(verdictOf(seen({ leastRatio: 0.3 }), RULES)).toBe('raised');
  expect(verdictOf(seen({ counted: 2, kl }), RULES)).toBe('few');
  expect(verdictOf(seen({ counted: 3, kl }), RULES)).toBe('kept');
  expect(verdictOf(seen({ counted: 3, kl: { ...kl, mean: 0.06 } }), RULES)).toBe('unsure');
  expect(verdictOf(seen({ counted: 3, agreement: { mean: 0.95, low: 0.9, high: 1 } }), RULES)).toBe('unsure');
});

test('every answer is a dot, those before the last change are grey, and the interval spans those that count', () => {
  const answers = [answer(0.4), answer(0), answer(0.02), answer(0.04)];
  const kl = { mean: 0.02, low: -0.01, high: 0.05 };
  const { dots, items, series } = klChart(seen({ answers, counted: 3, kl }), 0.05, WORDS);
  expect(dots.map(({ x, y, colour }) => [x, y, colour])).toEqual([
    [1, 0.4, 'muted'],
    [2, 1e-4, 'accent'], // a logarithmic axis cannot show 0
    [3, 0.02, 'accent'],
    [4, 0.04, 'accent'],
  ]);
  expect(items).toEqual([1, 2, 3, 4]);
  const [limit, band, mean] = series;
  expect(limit?.points.map(({ y }) => y)).toEqual([0.05, 0.05]);
  expect(band?.points.map(({ x, y, low }) => [x, y, low])).toEqual([2, 3, 4].map((x) => [x, 0.05, 1e-4]));
  expect(mean?.points.map(({ x, y }) => [x, y])).toEqual([2, 3, 4].map((x) => [x, 0.02]));
});

test('the axis of agreement reaches down to the worst answer; one answer has no interval', () => {
  const { dots, series, y } = agreementChart(seen({ answers: [answer(0, 0.75), answer(0)] }), 0.97, WORDS);
  expect(dots.map(({ x, y }) => [x, y])).toEqual([
    [1, 0.75],
    [2, 1],
  ]);
  expect(series).toHaveLength(1);
  expect(y.domain).toEqual([0.75, 1]);
  expect(agreementChart(seen({ answers: [answer(0)] }), 0.97, WORDS).y.domain).toEqual([0.9, 1]);
});
