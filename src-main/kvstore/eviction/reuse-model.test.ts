import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../testing/random.ts';
import { ReuseModel } from './reuse-model.ts';

interface Kind {
  share: number;
  mean: number;
}

const KINDS: Record<string, Kind> = { often: { share: 0.6, mean: 100 }, rarely: { share: 0.3, mean: 20 } };

/** Trains a model on prompts that arrive once a second for each kind, and are reused with the given distributions. */
function observed(seconds: number, { kinds = KINDS, memory = 3600, seed = 1 } = {}): ReuseModel {
  const random = randomFrom(seed);
  const model = new ReuseModel(memory);
  const events: { at: number; tell: () => void }[] = [];
  for (const [name, { share, mean }] of Object.entries(kinds)) {
    for (let at = 0; at < seconds; at++) {
      events.push({ at, tell: () => model.used(name, at) });
      if (random() >= share) continue;
      const idle = -mean * Math.log(1 - random());
      events.push({ at: at + idle, tell: () => model.reused(name, idle, at + idle) });
    }
  }
  for (const { at, tell } of events.sort((a, b) => a.at - b.at)) if (at < seconds) tell();
  return model;
}

function trueRate({ share, mean }: Kind, idle: number): number {
  const alive = share * Math.exp(-idle / mean);
  return alive / (alive + 1 - share) / mean;
}

describe('ReuseModel', () => {
  test.each(Object.entries(KINDS))('recovers the exponential of a class: %s', (name, kind) => {
    const model = observed(10_000);
    for (const idle of [0, 20, 100]) {
      expect(model.rate(name, idle) / trueRate(kind, idle)).toBeGreaterThan(0.8);
      expect(model.rate(name, idle) / trueRate(kind, idle)).toBeLessThan(1.25);
    }
  });

  test('tells two times of one class apart', () => {
    const random = randomFrom(3);
    const model = new ReuseModel(1e6);
    for (let at = 0; at < 5000; at++) {
      model.used('chunk', at);
      const mean = random() < 0.5 ? 10 : 2000;
      model.reused('chunk', -mean * Math.log(1 - random()), at);
    }
    // A single exponential would give 1/1005 at any time.
    expect(model.rate('chunk', 0)).toBeGreaterThan(1 / 40);
    expect(model.rate('chunk', 0)).toBeLessThan(1 / 10);
    expect(model.rate('chunk', 500)).toBeGreaterThan(1 / 4000);
    expect(model.rate('chunk', 500)).toBeLessThan(1 / 1000);
  });

  test('goes on from what it knew', () => {
    const model = observed(2000);
    const again = new ReuseModel(3600, model.state());
    for (const idle of [0, 50]) expect(again.rate('often', idle)).toBeCloseTo(model.rate('often', idle), 6);
    for (const garbage of ['', '{', '{"all":{}}', 'null'])
      expect(new ReuseModel(3600, garbage).rate('often', 1)).toBe(new ReuseModel(3600).rate('often', 1));
  });

  test('prompts too young to have been used again do not count as never used', () => {
    const model = observed(400, { kinds: { slow: { share: 0.5, mean: 400 } } });
    // A third of these 400 seconds' reuses has occurred; counting the others as none would give 0.00088 at most.
    expect(model.rate('slow', 0)).toBeGreaterThan(0.00088);
  });

  test('the longer a prompt lies, the less it is worth', () => {
    const model = observed(2000);
    for (const name of ['often', 'rarely', 'never seen']) {
      const rates = [0, 1, 10, 100, 1000].map((idle) => model.rate(name, idle));
      expect(rates).toEqual([...rates].sort((a, b) => b - a));
    }
  });

  test('a class that was never seen is taken for the average of all', () => {
    const model = observed(2000);
    const rate = model.rate('never seen', 0);
    expect(rate).toBeGreaterThan(Math.min(model.rate('often', 0), model.rate('rarely', 0)));
    expect(rate).toBeLessThan(Math.max(model.rate('often', 0), model.rate('rarely', 0)));
  });

  test('forgets: a class that changes is known by what it has become', () => {
    const model = observed(5000, { kinds: { text: { share: 0.9, mean: 10 } }, memory: 500 });
    expect(model.rate('text', 0)).toBeGreaterThan(0.08);
    for (let at = 5000; at < 8000; at++) model.used('text', at);
    expect(model.rate('text', 0)).toBeLessThan(0.01);
  });

  test('refuses a memory of no time', () => {
    expect(() => new ReuseModel(0)).toThrow(TypeError);
  });
});
