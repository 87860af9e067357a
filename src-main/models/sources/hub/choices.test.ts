import { describe, expect, test } from 'vitest';
import type { MemoryFit } from '../../../../src-shared/contract/models.ts';
import { resolvePaths } from '../../../platform/paths.ts';
import { expectedSpeed, type MeasuredModel } from './expected-speed.ts';
import { recommended } from './recommend.ts';
import { machineOf, suggestionsFor } from './starting-points.ts';

describe('the recommended quantisation', () => {
  const files = (...each: [string, MemoryFit['verdict'] | null][]) =>
    each.map(([quantization, verdict]) => ({ quantization, fit: verdict && { verdict } }));

  test.each([
    [
      'is the largest that fits well',
      files(['Q2_K', 'fits'], ['Q4_K_M', 'fits'], ['Q8_0', 'tight']),
      1,
      'largest',
    ],
    ['has eight bits at most', files(['Q4_K_M', 'fits'], ['Q8_0', 'fits'], ['BF16', 'fits']), 1, 'largest'],
    ['is the smallest where none fits well', files(['Q2_K', 'tight'], ['Q8_0', 'too-large']), 0, 'smallest'],
    ['is the usual one where nothing is known', files(['Q2_K', null], ['Q4_K_M', null]), 1, 'usual'],
  ] as const)('%s', (_, given, index, why) => {
    expect(recommended(given)).toEqual({ index, why });
  });

  test('is none where none fits, or where nothing is known and the usual one is not there', () => {
    expect(recommended(files(['Q2_K', 'too-large']))).toBeUndefined();
    expect(recommended(files(['Q2_K', null]))).toBeUndefined();
    expect(recommended([])).toBeUndefined();
  });
});

describe('the speed to expect', () => {
  const dense = { layers: 10, embeddingLength: 1000, experts: 0, expertsUsed: 0, expertFeedForwardLength: 0 };
  const model = (parameterCount: number, fileBytes: number) => ({ ...dense, parameterCount, fileBytes });
  const measured = (
    header: MeasuredModel['header'],
    tokensPerSecond: number | null,
    writtenPerSecond: number | null,
  ): MeasuredModel => ({ header, tokensPerSecond, writtenPerSecond });

  test('goes by weights for reading, by bytes for writing', () => {
    const known = [measured(model(1e9, 1e9), 100, 20)];
    expect(expectedSpeed(known, model(2e9, 4e9))).toEqual({ reading: 50, writing: 5 });
  });

  test('of a model with experts counts those that a token goes to', () => {
    const experts = { experts: 8, expertsUsed: 2, expertFeedForwardLength: 10_000 };
    const sparse = { ...model(3e9, 3e9), ...experts }; // 2.4e9 weights in experts, 1.2e9 of them active
    const { reading } = expectedSpeed([measured(model(1.2e9, 1.2e9), 100, null)], sparse);
    expect(reading).toBeCloseTo(100);
  });

  test('is that of the nearest model that was measured; nothing where none was, or only tiny ones', () => {
    const known = [measured(model(8e9, 8e9), 10, null), measured(model(1e9, 1e9), 100, 20)];
    expect(expectedSpeed(known, model(7e9, 7e9)).reading).toBeCloseTo(80 / 7);
    const nothing = { reading: null, writing: null };
    expect(expectedSpeed([], model(1e9, 1e9))).toEqual(nothing);
    expect(expectedSpeed([measured(model(2e6, 2e6), 9000, 900)], model(1e9, 1e9))).toEqual(nothing);
  });
});

describe('starting points', () => {
  const { startingPoints } = resolvePaths();
  const GB = 2 ** 30;

  test('a graphics card counts when it has enough memory', () => {
    const memory = { free: 0, total: 15.4 * GB };
    const card = (kind: 'gpu' | 'igpu', gb: number) => ({ kind, memoryTotal: gb * GB });
    expect(machineOf([], memory)).toEqual({ memoryGb: 15.4, gpu: false });
    expect(machineOf([card('gpu', 2), card('igpu', 15)], memory)).toEqual({ memoryGb: 15.4, gpu: false });
    expect(machineOf([card('gpu', 24)], memory)).toEqual({ memoryGb: 24, gpu: true });
  });

  test('there are some for every machine, one of them for chat; a larger one has larger ones', () => {
    for (const gpu of [false, true]) {
      const chosen = [4, 8, 15.4, 31, 63, 500].map((memoryGb) =>
        suggestionsFor(startingPoints, { memoryGb, gpu }),
      );
      for (const models of chosen) expect(models.map(({ role }) => role)).toContain('chat');
      expect(chosen[0]).toEqual(chosen[1]);
      expect(new Set(chosen.slice(1, 5).map((models) => JSON.stringify(models))).size).toBe(4);
    }
  });
});
