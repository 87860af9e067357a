import { expect, test } from 'vitest';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import { searchChecks, searchSteps } from './check-layers.ts';
import { checkLayersOf } from './choose.ts';
import { strategiesAt } from './calibrate.ts';
import type { Calibration, CalibrationPoint } from '../../../src-shared/contract/calibration.ts';

const FLOOR = { maxKl: 0.05, maxF1Loss: 0.01 };
const STRATEGIES = strategiesAt(['none', 'query', 'union', 'deviation'], [0.1, 0.3]);

/** A model whose blending has this KL and time by its check layers; the usual one is 1. */
function search(
  kl: (layers: readonly number[]) => number,
  { ms = (layers: readonly number[]) => 10 * (layers[0] ?? 0), layers = 12, prompts = 3 } = {},
) {
  const asked: (readonly StrategyChoice[])[] = [];
  const found = searchChecks({
    ...{ layers, floor: FLOOR, strategies: STRATEGIES },
    prompts: Array.from({ length: prompts }, (_, i) => i),
    measure: (_, strategies) => {
      asked.push(strategies);
      const blended = strategies.map(({ checkLayers = [1] }) => ({
        ...{ agrees: true, answerF1: 1, recomputedShare: 0.1 },
        kl: kl(checkLayers),
        ms: ms(checkLayers),
      }));
      return Promise.resolve({ fullMs: 100, sure: true, blended });
    },
  });
  return { asked, found };
}

test('the usual check stays where it keeps the quality: a later one computes more layers in full', async () => {
  expect([...(await search(() => 0.01).found)]).toEqual([]);
});

test('the earliest check that keeps the quality is found, for strategies that check', async () => {
  const found = await search(([first = 0]) => 1 / 10 ** first).found;
  expect([...found]).toEqual([
    ['union', [2]],
    ['deviation', [2]],
  ]);
});

test('where none keeps it, the one nearest to the full prefill', async () => {
  const found = await search((layers) => (layers.length > 1 ? 0.3 : 1)).found;
  expect(found.get('deviation')).toEqual([2, 7]);
});

test('the cheapest are tried first, none behind the middle, at a ratio that was asked for', async () => {
  const { asked, found } = search(() => 0.01, { layers: 28 });
  await found;
  const tried = (name: string) =>
    asked[0]?.filter((choice) => choice.name === name).map(({ checkLayers }) => checkLayers?.join());
  expect(tried('union')).toEqual([undefined, '2', '3', '7', '9']);
  expect(tried('deviation')).toEqual([undefined, '2', '3', '7', '9', '2,15']);
  expect(tried('query')).toEqual([]);
  expect(new Set(asked[0]?.map(({ ratio }) => ratio))).toEqual(new Set([0.1]));
  expect(searchSteps(STRATEGIES, 28, 3)).toBe((asked[0]?.length ?? 0) * 3);
});

test('a slow model is searched on fewer prompts, a small one not at all', async () => {
  const slow = search(() => 0.01, { ms: () => 10_000, prompts: 5 });
  await slow.found;
  expect(slow.asked).toHaveLength(1);
  const small = search(() => 1, { layers: 3 });
  await small.found;
  expect(small.asked).toHaveLength(0);
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
  expect(checkLayersOf(calibration, 'deviation')).toEqual([2]);
  expect(checkLayersOf(calibration, 'union')).toBeUndefined();
  expect(checkLayersOf(undefined, 'deviation')).toBeUndefined();
});
