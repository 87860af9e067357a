import { describe, expect, test } from 'vitest';
import type { CalibrationChoice } from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { Strategy } from '../../engine/engine.ts';
import { randomFrom } from '../../testing/random.ts';
import { engineStrategy } from '../strategy.ts';
import { decide, type Decision, UNCALIBRATED } from './controller.ts';
import { CostModel } from './cost-model.ts';
import { Machine, prompt, type MachineOptions } from '../../testing/machine.ts';
import type { Piece, Work } from './work.ts';

const AUTO = { kind: 'auto' } as const;
const TIERS = ['disk', 'ram'];

/** A machine whose costs are known. */
function known(options: MachineOptions = {}): { machine: Machine; costs: CostModel } {
  const machine = new Machine(options);
  const costs = new CostModel('/dev/null/none'); // cannot be written, which must not matter
  for (const done of machine.profile()) costs.observe(machine.info, done);
  return { machine, costs };
}

function decided(
  work: Work,
  { machine, costs }: ReturnType<typeof known>,
  calibrated?: CalibrationChoice,
): Decision {
  return decide(work, AUTO, { info: machine.info, costs, tiers: TIERS, calibrated });
}

function blend(strategy: StrategyChoice): CalibrationChoice {
  return { verdict: 'blend', strategy };
}

describe('the controller', () => {
  test('takes the floor where loading costs nothing, and says what that takes and a full prefill would', () => {
    const on = known();
    const { reason, choice, predicted, predictedFullMs, tier } = decided(prompt(6, 256, 'ram'), on);
    expect({ reason, choice, tier }).toEqual({ reason: 'floor', choice: UNCALIBRATED, tier: 'ram' });
    expect(predicted!.total).toBeLessThan(predictedFullMs! / 2);
    expect(decided(prompt(6, 256, 'ram'), on, blend({ name: 'query', ratio: 0.3 })).choice).toEqual({
      name: 'query',
      ratio: 0.3,
    });
  });

  test('checks where calibration found it should, and foresees that a later check takes longer', () => {
    const on = known();
    const at = (checkLayers: number[]) =>
      decided(prompt(6, 256, 'ram'), on, blend({ name: 'deviation', ratio: 0.1, checkLayers }));
    const [early, late] = [at([1]), at([4])];
    expect(late.choice).toMatchObject({ name: 'deviation', checkLayers: [4] });
    expect(late.strategy).toMatchObject({ kind: 'deviation', checkLayers: [4] });
    const { layers } = on.machine.info;
    // Three more layers in full instead of a tenth of them.
    const extra = (0.9 * 3 * late.predictedFullMs!) / layers;
    expect(late.predicted!.total - early.predicted!.total).toBeGreaterThan(extra / 2);
  });

  test('recomputes more where loading hides it, at no cost in time', () => {
    const on = known({ byte: 6e-5 });
    const work = prompt(6, 256, 'disk');
    const { reason, choice, strategy, cheapestTier } = decided(
      work,
      on,
      blend({ name: 'deviation', ratio: 0.1 }),
    );
    expect(reason).toBe('hidden');
    expect(choice.ratio).toBeGreaterThan(0.15);
    const ms = (choose: typeof strategy): number => {
      const { report, acquireMs } = on.machine.run(work, choose);
      return report.totalMs + acquireMs;
    };
    const atFloor = ms(engineStrategy({ name: 'deviation', ratio: 0.1 }, on.machine.info.layers));
    expect(ms(strategy)).toBeLessThan(atFloor * 1.05);
    expect(cheapestTier).toBe('ram'); // the bottleneck is the disk
  });

  test('says when the slower tier would add no delay', () => {
    const on = known({ byte: 1e-7, read: 0 });
    expect(decided(prompt(6, 256, 'ram'), on).cheapestTier).toBe('disk');
  });

  // Known from another implementation (vllm-ascend#15222): loading from storage took longer than computing.
  test('computes all when loading is slower than that, and the prompt then is there sooner', () => {
    const on = known({ byte: 1e-3 });
    const work = prompt(3, 100, 'disk');
    const { fellBack, reason, strategy, choice, tier } = decided(work, on);
    expect({ fellBack, reason, tier }).toEqual({ fellBack: true, reason: 'full-is-faster', tier: null });
    expect([strategy, choice.name]).toEqual([{ kind: 'full' }, 'full']);
  });

  test('computes some passages while the others load', () => {
    const on = known({ byte: 2e-4 });
    const work = prompt(6, 256, 'disk');
    const { computed, predicted, fellBack } = decided(work, on);
    expect(fellBack).toBe(false);
    expect(computed.size).toBeGreaterThan(0);
    const loaded = on.costs.predict(on.machine.info, work, engineStrategy(UNCALIBRATED, 12))!;
    expect(predicted!.total).toBeLessThan(loaded.total);
  });

  test('what is cached of one passage is loaded together, or not at all', () => {
    const on = known({ byte: 2e-4 });
    const { past, pieces } = prompt(6, 256, 'disk');
    const edited = pieces.flatMap((piece, chunk): Piece[] => {
      if (piece.tier === null) return [piece];
      const run = { ...piece, chunk, tokens: 126, bytes: (126 / 256) * piece.bytes };
      return [run, { chunk, tokens: 4, tier: null, bytes: (4 / 256) * piece.bytes }, run];
    });
    const { computed } = decided({ past, pieces: edited }, on);
    expect(computed.size).toBeGreaterThan(0);
    const chunks = [...computed].map((index) => edited[index]?.chunk);
    for (const chunk of new Set(chunks)) expect(chunks.filter((each) => each === chunk)).toHaveLength(2);
  });

  test('obeys calibration, people, and an empty cache', () => {
    const on = known();
    const work = prompt(6, 256, 'ram');
    const quality = { verdict: 'quality', strategy: { name: 'full', ratio: 1 } } as const;
    expect(decided(work, on, quality)).toMatchObject({ fellBack: true, reason: 'quality' });
    expect(decided(work, on, { ...quality, verdict: 'slower' })).toMatchObject({ reason: 'full-is-faster' });
    expect(decided(prompt(6, 256, null), on, quality)).toMatchObject({ fellBack: false, reason: 'nothing-cached' }); // prettier-ignore
    const asked = { kind: 'deviation', checkLayers: [1, 4], ratios: [0.2, 0.1] } as const;
    const options = { info: on.machine.info, costs: on.costs, tiers: TIERS, calibrated: quality };
    expect(decide(work, { ...asked, checkLayers: [1, 4], ratios: [0.2, 0.1] }, options)).toMatchObject({
      reason: 'asked',
      strategy: asked,
      choice: { name: 'deviation', ratio: 0.1 },
    });
    const adaptive = { cover: 0.5, least: 0.1, most: 0.4 };
    const { predicted } = decide(work, { kind: 'query', questionLayers: [3], adaptive }, options);
    expect(predicted).toBeNull(); // the number of tokens depends on the prompt
  });

  test('recomputes no less than watching asks for, and everything where that says so', () => {
    const on = known();
    const work = prompt(6, 256, 'ram');
    const least = (leastRatio: number, calibrated?: CalibrationChoice) =>
      decide(work, AUTO, { info: on.machine.info, costs: on.costs, tiers: TIERS, calibrated, leastRatio });
    expect(least(0.3)).toMatchObject({ reason: 'floor', choice: { name: 'query', ratio: 0.3 } });
    const later: StrategyChoice = { name: 'deviation', ratio: 0.1, checkLayers: [2] };
    expect(least(0.3, blend(later)).choice).toEqual({ ...later, ratio: 0.3 });
    expect(least(0.05, blend(later)).choice).toEqual(later);
    expect(least(0.3, blend({ name: 'none', ratio: 0 })).choice).toMatchObject({
      name: 'query',
      ratio: 0.3,
    });
    expect(least(1)).toMatchObject({ reason: 'watched', fellBack: true, choice: { name: 'full' } });
    const asked: Strategy = { kind: 'deviation', checkLayers: [1], ratios: [0.1] };
    const options = { info: on.machine.info, costs: on.costs, tiers: TIERS, leastRatio: 1 };
    expect(decide(work, asked, options)).toMatchObject({ reason: 'asked', strategy: asked });
  });

  test('without measurements blends at the default and predicts nothing', () => {
    const { machine } = known();
    const nothing = { machine, costs: new CostModel('/dev/null/none') };
    expect(decided(prompt(6, 256, 'ram'), nothing)).toMatchObject({
      ...{ reason: 'unmeasured', choice: UNCALIBRATED, predicted: null, predictedFullMs: null },
      ...{ cheapestTier: null, fellBack: false },
    });
  });

  test('never goes below the floor, nor over what it predicts for the floor or a full prefill', () => {
    const random = randomFrom(11);
    for (let i = 0; i < 24; i++) {
      const on = known({
        row: 0.002 + random() * 0.1,
        pair: random() * 1e-4,
        byte: 10 ** (-9 + 6 * random()),
        layer: random(),
      });
      const count = 1 + Math.floor(random() * 8);
      const work = prompt(count, 32 + Math.floor(random() * 400), random() < 0.3 ? 'ram' : 'disk');
      const floor = {
        name: (['query', 'deviation'] as const)[i % 2]!,
        ratio: random(),
      };
      const { choice, predicted, predictedFullMs, fellBack } = decided(work, on, blend(floor));
      expect(fellBack ? choice.name : choice.ratio).toSatisfy((chosen) => chosen === 'full' || Number(chosen) >= floor.ratio); // prettier-ignore
      const { layers } = on.machine.info;
      const atFloor = on.costs.predict(on.machine.info, work, engineStrategy(floor, layers))!.total;
      expect(predicted!.total).toBeLessThanOrEqual(Math.min(atFloor, predictedFullMs! / 0.85) * 1.021);
    }
  });
});
