import { describe, expect, test } from 'vitest';
import { engineStrategy, STRATEGIES, type StrategyOrAuto } from '../../fusion/strategy.ts';
import { strategyList, strategyOf, type StrategyFlags } from './strategy-flags.ts';

/** As the core understands the request. */
function builtFrom(flags: StrategyFlags, layers: number): StrategyOrAuto {
  const { name = 'auto', ...parts } = strategyOf(flags, layers) ?? { ratio: 0 };
  return name === 'auto' ? { kind: 'auto' } : engineStrategy({ name, ...parts }, layers);
}

describe('strategies in words', () => {
  test.each<[StrategyFlags, StrategyOrAuto]>([
    [{}, { kind: 'auto' }],
    [{ strategy: 'auto' }, { kind: 'auto' }],
    [{ strategy: 'deviation' }, { kind: 'deviation', checkLayers: [1], ratios: [0.15] }],
    [{ strategy: 'none' }, { kind: 'none' }],
    [{ strategy: 'full' }, { kind: 'full' }],
    [
      { ratio: '0.3' },
      { kind: 'query', questionLayers: [0, 1, 2, 3, 4, 5, 6, 7], ratios: [0.3], shift: 0.7 },
    ],
    [
      { ratio: '0.18, 0.12', checkLayers: '1,4' },
      { kind: 'deviation', checkLayers: [1, 4], ratios: [0.18, 0.12] },
    ],
    [{ questionLayers: '1' }, { kind: 'query', questionLayers: [1], ratios: [0.15], shift: 0.7 }],
    [
      { ratio: '1', checkLayers: '0' },
      { kind: 'deviation', checkLayers: [0], ratios: [1] },
    ],
    [
      { cover: '0.6', deviationOf: 'kv' },
      { kind: 'deviation', checkLayers: [1], adaptive: { cover: 0.6, least: 0, most: 1 }, of: 'kv' },
    ],
    [
      { strategy: 'query', questionLayers: '2,5' },
      { kind: 'query', questionLayers: [2, 5], ratios: [0.15], shift: 0.7 },
    ],
    [
      { strategy: 'query', questionLayers: '3', cover: '0.8,0.05,0.3' },
      {
        kind: 'query',
        questionLayers: [3],
        adaptive: { cover: 0.8, least: 0.05, most: 0.3 },
        shift: 0.7,
      },
    ],
  ])('%j', (options, expected) => {
    expect(builtFrom(options, 8)).toEqual(expected);
  });

  test('one ratio for several check layers is gradual filtering: a little above at first, then falling, right on average', () => {
    const layers = 28;
    const checkLayers = [1, 4, 10];
    for (const mean of [0, 0.05, 0.15, 0.6, 1]) {
      const strategy = builtFrom(
        { strategy: 'deviation', ratio: String(mean), checkLayers: checkLayers.join(',') },
        layers,
      );
      if (strategy.kind !== 'deviation' || !('ratios' in strategy)) throw new Error(strategy.kind);
      const { ratios } = strategy;
      const spans = checkLayers.map((layer, i) => (checkLayers[i + 1] ?? layers) - layer);
      const computed = spans.reduce((sum, span, i) => sum + span * (ratios[i] ?? 0), 0);
      expect(computed / (layers - 1)).toBeCloseTo(mean, 10);
      expect([...ratios].sort((a, b) => b - a)).toEqual(ratios);
      expect(Math.max(...ratios)).toBeLessThanOrEqual(1);
      if (mean > 0 && mean < 1) expect(ratios[0]).toBeGreaterThan(mean);
    }
  });

  test.each<[StrategyFlags, RegExp]>([
    [{ strategy: 'auto', ratio: '0.1' }, /--ratio does not apply to the strategy "auto"/],
    [{ strategy: 'magic' }, /no strategy "magic"/],
    [{ ratio: '1.1' }, /--ratio 1.1 must be between 0 and 1/],
    [{ ratio: '-0.1' }, /between 0 and 1/],
    [{ ratio: 'x' }, /--ratio x is not a number/],
    [{ ratio: '' }, /not a number/],
    [{ ratio: '0.1,' }, /not a number/],
    [{ ratio: 'NaN' }, /not a number/],
    [{ ratio: '0.1,0.2', checkLayers: '1,2' }, /must decrease/],
    [{ ratio: '0.1,0.1', checkLayers: '1,2' }, /must decrease/],
    [{ ratio: '0.2,0.1', checkLayers: '1' }, /2 number\(s\) for 1 check layer/],
    [{ checkLayers: '8' }, /layers from 0 to 7/],
    [{ checkLayers: '-1' }, /layers from 0 to 7/],
    [{ checkLayers: '1.5' }, /layers from 0 to 7/],
    [{ ratio: '0.2,0.1', checkLayers: '4,1' }, /must ascend/],
    [{ strategy: 'none', ratio: '0.1' }, /--ratio does not apply to the strategy "none"/],
    [{ strategy: 'full', checkLayers: '1' }, /--check-layers does not apply/],
    [{ strategy: 'query', checkLayers: '1' }, /--check-layers does not apply/],
    [{ strategy: 'query', ratio: '0.2,0.1' }, /must be one number/],
    [{ strategy: 'query', questionLayers: '8' }, /layers from 0 to 7/],
    [{ strategy: 'union' }, /no strategy "union"/],
    [{ questionLayers: '1', checkLayers: '1' }, /does not apply/],
    [{ deviationOf: 'q' }, /must be v, k or kv/],
    [{ cover: '0.5', ratio: '0.1' }, /cannot be combined with --ratio/],
    [{ cover: '0.5', checkLayers: '1,2' }, /takes one check layer/],
    [{ cover: '0.5,0.4,0.3' }, /share,least,most/],
    [{ cover: '0' }, /share,least,most/],
  ])('%j is a bad argument', (options, message) => {
    expect(() => strategyOf(options, 8)).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT', message: expect.stringMatching(message) as string }),
    );
  });

  test('every strategy works with its defaults on a model of any size', () => {
    for (const { name } of STRATEGIES)
      for (const layers of [2, 3, 6, 28]) expect(builtFrom({ strategy: name }, layers).kind).toBe(name);
  });

  test('each has a summary', () => {
    expect(STRATEGIES.every(({ summary }) => summary.length > 20)).toBe(true);
  });
});

test('without flags, the core decides', () => {
  expect(strategyOf({}, 8)).toBeUndefined();
  expect(strategyOf({ strategy: 'auto' }, 8)).toEqual({ name: 'auto', ratio: 0.15 });
  expect(strategyOf({ ratio: '0.3' }, 8)).toEqual({ name: 'query', ratio: 0.3, ratios: [0.3] });
});

test('a list of strategies takes names and ratios, but no retired names', () => {
  expect(strategyList('deviation, query:0.3')).toEqual([
    { name: 'deviation', ratio: 0.15 },
    { name: 'query', ratio: 0.3 },
  ]);
  expect(() => strategyList('deviation,union:0.3')).toThrow(/names of strategies/);
});
