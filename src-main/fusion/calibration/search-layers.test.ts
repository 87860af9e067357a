import { expect, test } from 'vitest';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import { searchLayers, searchSteps } from './search-layers.ts';
import { layersOf } from './choose.ts';
import { strategiesAt } from './calibrate.ts';
import type { Calibration, CalibrationPoint } from '../../../src-shared/contract/calibration.ts';

const FLOOR = { maxKl: 0.05, maxF1Loss: 0.01 };
const STRATEGIES = strategiesAt(['none', 'query', 'union', 'deviation'], [0.1, 0.3]);

interface Layers {
  check: readonly number[];
  question: readonly number[];
}

/** A model whose blending has this KL and time by its layers; the usual ones are 1, and one in the middle. */
function search(
  kl: (layers: Layers) => number,
  { ms = ({ check }: Layers) => 10 * (check[0] ?? 0), layers = 12, prompts = 3 } = {},
) {
  const asked: (readonly StrategyChoice[])[] = [];
  const found = searchLayers({
    ...{ layers, floor: FLOOR, strategies: STRATEGIES },
    prompts: Array.from({ length: prompts }, (_, i) => i),
    measure: (_, strategies) => {
      asked.push(strategies);
      const blended = strategies.map(
        ({ checkLayers: check = [1], questionLayers: question = [layers / 2] }) => ({
          ...{ agrees: true, answerF1: 1, recomputedShare: 0.1 },
          kl: kl({ check, question }),
          ms: ms({ check, question }),
        }),
      );
      return Promise.resolve({ fullMs: 100, sure: true, blended });
    },
  });
  return { asked, found };
}

test('the usual check stays where it keeps the quality: a later one computes more layers in full', async () => {
  expect([...(await search(() => 0.01).found)]).toEqual([]);
});

test('the earliest of the best checks is found, for strategies that check', async () => {
  const found = await search(({ check: [first = 0] }) => (first < 3 ? 0.04 : 0.002)).found;
  expect([...found]).toEqual([
    ['union', { checkLayers: [3] }],
    ['deviation', { checkLayers: [3] }],
  ]);
});

test('where none keeps it, the one nearest to the full prefill', async () => {
  const found = await search(({ check }) => (check.length > 1 ? 0.3 : 1)).found;
  expect(found.get('deviation')).toEqual({ checkLayers: [2, 7] });
});

test('the layer at which the question looks where its answer is, then the check that goes with it', async () => {
  const { asked, found } = search(({ check: [first = 0], question: [layer = 0] }) =>
    layer === 8 ? 1 / 10 ** first : 1,
  );
  expect([...(await found)]).toEqual([
    ['query', { questionLayers: [8] }],
    ['union', { checkLayers: [3], questionLayers: [8] }],
  ]);
  const tried = asked[0]
    ?.filter(({ name }) => name === 'query')
    .map(({ questionLayers }) => questionLayers?.join());
  expect(tried).toEqual([undefined, '3', '4', '8', '9', '11']);
  const checked = asked.at(-1)?.filter(({ name }) => name === 'union');
  expect(checked?.every(({ questionLayers }) => questionLayers?.join() === '8')).toBe(true);
});

test('the cheapest are tried first, none behind the middle, at a ratio that was asked for', async () => {
  const { asked, found } = search(() => 0.01, { layers: 28 });
  await found;
  const last = asked.at(-1);
  const tried = (name: string) =>
    last?.filter((choice) => choice.name === name).map(({ checkLayers }) => checkLayers?.join());
  expect(tried('union')).toEqual([undefined, '2', '3', '7', '9']);
  expect(tried('deviation')).toEqual([undefined, '2', '3', '7', '9', '2,15']);
  expect(tried('query')).toEqual([]);
  expect(new Set(asked.flat().map(({ ratio }) => ratio))).toEqual(new Set([0.1]));
  const prompts = ['a', 'b', 'c'];
  const steps = searchSteps(
    { strategies: STRATEGIES, layers: 28, prompts },
    (_prompt, candidates) => candidates,
  );
  expect(steps).toBe(asked.flat().length);
});

test('a slow model is searched on fewer prompts, a small one by its question alone', async () => {
  const slow = search(() => 0.01, { ms: () => 10_000, prompts: 5 });
  await slow.found;
  expect(slow.asked).toHaveLength(2);
  const small = search(() => 1, { layers: 3 });
  await small.found;
  expect(small.asked.flat().every(({ checkLayers }) => checkLayers === undefined)).toBe(true);
});

test('a strategy that people name checks where its own cheapest good point does', () => {
  const point = (strategy: StrategyChoice, kl: number, ms: number): CalibrationPoint => ({
    ...{ strategy, kl, klMax: kl, ms, agreement: 1, answerF1: 1, recomputedShare: 0.1 },
  });
  const calibration = {
    fullMs: 100,
    floor: FLOOR,
    points: [
      point({ name: 'union', ratio: 0.1 }, 0.01, 20),
      point({ name: 'deviation', ratio: 0.1 }, 1, 20),
      point({ name: 'deviation', ratio: 0.1, checkLayers: [2] }, 0.02, 30),
      point({ name: 'deviation', ratio: 0.3 }, 0.02, 50),
    ],
  } as unknown as Calibration;
  expect(layersOf(calibration, 'deviation')).toEqual({ checkLayers: [2] });
  expect(layersOf(calibration, 'union')).toEqual({});
  expect(layersOf(undefined, 'deviation')).toEqual({});
});
