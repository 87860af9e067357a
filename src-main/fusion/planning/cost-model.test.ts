import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Strategy } from '../../engine/engine.ts';
import { randomFrom } from '../../testing/random.ts';
import { CostModel } from './cost-model.ts';
import { Machine, prompt, type MachineOptions } from '../../testing/machine.ts';
import type { Work } from './work.ts';

const FULL: Strategy = { kind: 'full' };
const deviation = (ratio: number): Strategy => ({ kind: 'deviation', checkLayers: [1], ratios: [ratio] });
const query = (ratio: number): Strategy => ({ kind: 'query', questionLayers: [6], ratios: [ratio] });

function path(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-costs-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, 'costs.json');
}

function profiled(options: MachineOptions = {}): { machine: Machine; costs: CostModel } {
  const machine = new Machine(options);
  const costs = new CostModel(path());
  for (const done of machine.profile()) costs.observe(machine.info, done);
  return { machine, costs };
}

function took(machine: Machine, ...args: Parameters<Machine['run']>): number {
  const { report, acquireMs } = machine.run(...args);
  return acquireMs + report.totalMs;
}

describe('what a prompt will cost', () => {
  test('is not known before anything was seen, nor on another device or with KV in another format', () => {
    const { machine, costs } = profiled();
    expect(new CostModel(path()).predict(machine.info, prompt(2, 128, 'ram'), FULL)).toBeNull();
    expect(costs.predict({ ...machine.info, threads: 4 }, prompt(2, 128, 'ram'), FULL)).toBeNull();
    expect(costs.predict({ ...machine.info, kvDtype: 'q8_0' }, prompt(2, 128, 'ram'), FULL)).toBeNull();
    expect(costs.predict(machine.info, prompt(2, 128, 'network'), query(0.15))).toBeNull();
    expect(costs.fullPrefill(machine.info, 0)).toBeNull();
  });

  test.each([
    ['full', FULL],
    ['none', { kind: 'none' }],
    ['deviation', deviation(0.15)],
    ['query', query(0.5)],
  ] as [string, Strategy][])('is predicted for prompts larger than any seen: %s', (_, strategy) => {
    for (const byte of [1e-9, 1e-6, 1e-5]) {
      const { machine, costs } = profiled({ byte });
      for (const tier of ['device', 'ram', 'disk']) {
        const work = prompt(8, 512, tier);
        const ms = took(machine, work, strategy);
        const expected = costs.predict(machine.info, work, strategy)!;
        expect(Math.abs(expected.total - ms) / ms).toBeLessThan(0.05);
        const { total, ...parts } = expected;
        expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 6);
      }
    }
  });

  test('is unknown of what other machines share until something came from there', () => {
    const { machine, costs } = profiled();
    const work = prompt(4, 256, 'shared');
    expect(costs.predict(machine.info, work, query(0.15))).toBeNull();
    expect(costs.transfer(1e6)).toBeNull();
    costs.observeTransfer({ values: 1, bytes: 1e6, ms: 8 });
    expect(costs.transfer(1e6)).toBeCloseTo(8, 6);
    expect(costs.predict(machine.info, work, query(0.15))!.load).toBeGreaterThan(0);
  });

  test('a line’s throughput and latency are distinguished, and survive a restart', () => {
    const file = path();
    const costs = new CostModel(file);
    // 1 Gbit/s, 20 ms for each value.
    for (const [values, bytes] of [
      [1, 1e6],
      [4, 8e6],
      [2, 30e6],
      [8, 5e6],
    ] as const)
      // prettier-ignore
      costs.observeTransfer({ values, bytes, ms: values * 20 + bytes * 8e-6 });
    expect(new CostModel(file).transfer(50e6)).toBeCloseTo(420, 3);
  });

  test('waits for values that arrive for what they take beyond computing', () => {
    const ram = took(new Machine(), prompt(4, 256, 'ram'), query(0.15));
    const over = (ms: number): number => {
      const { machine, costs } = profiled();
      costs.observeTransfer({ values: 4, bytes: 4 * 256 * 2000, ms });
      return costs.predict(machine.info, prompt(4, 256, 'shared'), query(0.15))!.total;
    };
    expect(over(ram / 10)).toBeLessThan(1.1 * ram);
    // The last layer arrives with the last byte, and is then placed and computed.
    expect(over(10 * ram)).toBeGreaterThan(10 * ram);
    expect(over(10 * ram)).toBeLessThan(10.5 * ram);
  });

  test('is predicted for a model whose passes report no layers, as libllama’s', () => {
    const machine = new Machine();
    const costs = new CostModel(path());
    /** As in a pass that had to compute `more` tokens besides the new ones. */
    const observe = (work: Work, more = 0): void => {
      const { report, ...done } = machine.run(work, FULL);
      const stages = { ...report.stages, compute: report.totalMs * (1 + more) };
      const processedTokens = report.tokens * (1 + more);
      costs.observe(machine.info, { ...done, report: { ...report, layers: [], stages, processedTokens } });
    };
    for (const work of [prompt(2, 128, null), prompt(4, 256, null), { ...prompt(1, 64, null), past: 1000 }])
      observe(work);
    observe(prompt(1, 128, null), 3);
    for (const work of [prompt(8, 512, null), { ...prompt(1, 32, null), past: 3000 }]) {
      const ms = took(machine, work, FULL);
      expect(Math.abs(costs.predict(machine.info, work, FULL)!.total - ms) / ms).toBeLessThan(0.1);
    }
  });

  test('counts what layers with windows see', () => {
    const { machine, costs } = profiled({ pair: 2e-4, window: 300 });
    const all = profiled({ pair: 2e-4 });
    const work = prompt(8, 512, 'ram');
    for (const strategy of [FULL, deviation(0.15), query(0.05)]) {
      const ms = took(machine, work, strategy);
      expect(Math.abs(costs.predict(machine.info, work, strategy)!.total - ms) / ms).toBeLessThan(0.05);
      expect(ms).toBeLessThan(0.7 * all.costs.predict(all.machine.info, work, strategy)!.total);
    }
  });

  test('counts one row in layers that read the KV of earlier ones', () => {
    const { machine, costs } = profiled({ layers: 20, kvLayers: 8, window: 300 });
    const all = profiled({ layers: 20, window: 300 });
    const work = prompt(8, 512, 'disk');
    for (const strategy of [FULL, deviation(0.15), query(0.05)]) {
      const ms = took(machine, work, strategy);
      expect(Math.abs(costs.predict(machine.info, work, strategy)!.total - ms) / ms).toBeLessThan(0.05);
      expect(ms).toBeLessThan(0.7 * all.costs.predict(all.machine.info, work, strategy)!.total);
    }
  });

  test('counts what is there already', () => {
    const { machine, costs } = profiled();
    const work = { ...prompt(2, 200, 'disk'), past: 3000 };
    const ms = took(machine, work, query(0.15));
    expect(Math.abs(costs.predict(machine.info, work, query(0.15))!.total - ms) / ms).toBeLessThan(0.05);
    expect(costs.fullPrefill(machine.info, 2000)).toBeCloseTo(took(machine, prompt(0, 0, null), FULL), -9);
  });

  test('grows with the ratio, with bytes and with slowness of the tier', () => {
    const random = randomFrom(7);
    for (let i = 0; i < 10; i++) {
      const { machine, costs } = profiled({
        row: 0.001 + random() * 0.1,
        pair: random() * 1e-4,
        byte: 10 ** (-9 + 4 * random()),
        read: random(),
        layer: random(),
      });
      const slower = profiled({ byte: 1e-4 });
      const work = prompt(1 + Math.floor(random() * 8), 64 + Math.floor(random() * 512), 'disk');
      for (const strategy of [deviation, query]) {
        const ms = (ratio: number, bytes = 1): number => {
          const pieces = work.pieces.map((piece) => ({ ...piece, bytes: piece.bytes * bytes }));
          return costs.predict(machine.info, { ...work, pieces }, strategy(ratio))!.total;
        };
        const byRatio = [0, 0.1, 0.3, 0.6, 1].map((ratio) => ms(ratio));
        const byBytes = [0.5, 1, 2, 10].map((bytes) => ms(0.15, bytes));
        for (const list of [byRatio, byBytes]) expect(list).toEqual(list.toSorted((a, b) => a - b));
        const load = slower.costs.predict(slower.machine.info, work, strategy(0.15))!.load;
        expect(load).toBeGreaterThanOrEqual(profiledLoad(work, strategy(0.15)));
      }
    }

    function profiledLoad(work: ReturnType<typeof prompt>, strategy: Strategy): number {
      const { machine, costs } = profiled({ byte: 1e-7 });
      return costs.predict(machine.info, work, strategy)!.load;
    }
  });

  test('takes no notice of a layer that chance made long', () => {
    const { machine, costs } = profiled();
    const work = prompt(4, 256, 'ram');
    const predicted = () => [query(0.15), FULL].map((how) => costs.predict(machine.info, work, how)!.total);
    const before = predicted();
    const done = machine.run(work, query(0.15));
    const { layers, stages, totalMs } = done.report;
    const stall = 20 * (layers[5]!.computeEnd - layers[5]!.computeStart);
    layers[5]!.computeEnd += stall;
    const report = {
      ...done.report,
      totalMs: totalMs + stall,
      stages: { ...stages, compute: stages.compute + stall },
    };
    costs.observe(machine.info, { ...done, report });
    for (const [i, ms] of predicted().entries()) expect(ms / before[i]!).toBeCloseTo(1, 2);
  });

  test('follows a machine that has become twice as slow, within two answers', () => {
    const { machine, costs } = profiled();
    for (let i = 0; i < 10; i++)
      costs.observe(machine.info, machine.run(prompt(4, 256, 'disk'), query(0.15)));
    const slow = new Machine({ slowness: 2 });
    const work = prompt(6, 256, 'disk');
    const wrongBy = (): number => {
      const ms = took(slow, work, query(0.15));
      return Math.abs(costs.predict(slow.info, work, query(0.15))!.total - ms) / ms;
    };
    expect(wrongBy()).toBeGreaterThan(0.3);
    costs.observe(slow.info, slow.run(prompt(4, 256, 'disk'), query(0.15)));
    costs.observe(slow.info, slow.run(prompt(5, 256, 'disk'), query(0.15)));
    expect(wrongBy()).toBeLessThan(0.15);
  });

  test('is the mean of what chance makes of it, not its least', () => {
    const random = randomFrom(5);
    const machine = new Machine();
    const costs = new CostModel(path());
    const took: number[] = [];
    const expected: number[] = [];
    for (let i = 0; i < 60; i++) {
      // Now and then another program uses the processor for a while.
      const slow = random() < 0.25 ? 4 : 1;
      const done = new Machine({ slowness: slow }).run(prompt(4, 128, 'ram'), query(0.15));
      const foreseen = costs.predict(machine.info, done.work, query(0.15))?.total;
      if (foreseen !== undefined) {
        expected.push(foreseen);
        took.push(done.acquireMs + done.report.totalMs);
      }
      costs.observe(machine.info, done);
    }
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(expected) / mean(took)).toBeGreaterThan(0.8);
    expect(mean(expected) / mean(took)).toBeLessThan(1.25);
  });

  test('is known from chunks that were encoded by themselves, until an append was seen', () => {
    const { info } = new Machine();
    const costs = new CostModel(path());
    costs.observeEncode(info, 1000, 550);
    expect(costs.fullPrefill(info, 1000)).toBeGreaterThan(500);
    const machine = new Machine();
    for (const done of machine.profile()) costs.observe(info, done);
    const before = costs.fullPrefill(info, 1000);
    costs.observeEncode(info, 1000, 99_999);
    expect(costs.fullPrefill(info, 1000)).toBe(before);
  });

  test('is never negative, whatever is seen', () => {
    const random = randomFrom(3);
    const costs = new CostModel(path());
    const machine = new Machine();
    for (let i = 0; i < 50; i++) {
      const done = machine.run(prompt(1 + Math.floor(random() * 4), 64, 'disk'), query(random()));
      for (const layer of done.report.layers) layer.computeEnd = layer.computeStart + random() * 100;
      done.report.stages.check = random() * 50;
      costs.observe(machine.info, done);
      for (const tokens of [1, 100, 100_000])
        expect(costs.fullPrefill(machine.info, tokens)).toBeGreaterThanOrEqual(0);
    }
  });

  test('outlives the process; a broken file only means measuring again', () => {
    const file = path();
    const machine = new Machine();
    const costs = new CostModel(file);
    for (const done of machine.profile()) costs.observe(machine.info, done);
    const expected = costs.predict(machine.info, prompt(3, 100, 'disk'), query(0.2));
    expect(new CostModel(file).predict(machine.info, prompt(3, 100, 'disk'), query(0.2))).toEqual(expected);
    for (const broken of ['{', '{"version":1,"fits":{}}', '[]']) {
      writeFileSync(file, broken);
      const empty = new CostModel(file);
      expect(empty.predict(machine.info, prompt(3, 100, 'ram'), FULL)).toBeNull();
      for (const done of machine.profile()) empty.observe(machine.info, done);
      expect(new CostModel(file).predict(machine.info, prompt(3, 100, 'disk'), query(0.2))).toEqual(expected);
    }
  });
});
