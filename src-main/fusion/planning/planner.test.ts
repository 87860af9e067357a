import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Calibration } from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { Strategy } from '../../engine/engine.ts';
import { blend, type PromptPart } from '../blender.ts';
import { encodeAndStore } from '../encode-chunks.ts';
import { keyFor } from '../model.ts';
import { FakeModel, FakeStore } from '../../testing/fusion.ts';
import { CostModel } from './cost-model.ts';
import { Machine } from '../../testing/machine.ts';
import type { StrategyOrAuto } from '../strategy.ts';
import { Planner } from './planner.ts';
import type { Piece } from './work.ts';

const DEVIATION: Strategy = { kind: 'deviation', checkLayers: [1], ratios: [0.15] };
/** Measurements for chunks encoded after headings. */
const MEASURED = {
  choice: { verdict: 'blend', strategy: { name: 'deviation', ratio: 0.1 } },
} as Calibration;
const OLD = Int32Array.from({ length: 400 }, (_, i) => 100 + i);
/** Ten tokens of it replaced by two. */
const EDITED = Int32Array.of(...OLD.subarray(0, 190), 7, 8, ...OLD.subarray(200));

/** A prompt of the edited passage on a machine with known costs; `stored` is the store's content. */
async function fixture(...stored: Int32Array[]) {
  return fixtureWith(undefined, stored);
}

async function fixtureWith(unmeasured: StrategyChoice | undefined, stored: readonly Int32Array[] = []) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-planner-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const machine = new Machine({ layers: 4 });
  const costs = new CostModel(join(dir, 'costs.json'));
  const model = new FakeModel();
  for (const done of machine.profile()) costs.observe(model.info, done);
  const store = new FakeStore();
  for (const tokens of stored) await encodeAndStore(model, store, [{ tokens }], { dtype: 'f16', label: '' });
  const similar = vi.spyOn(store, 'similar');
  const planner = new Planner({
    costs,
    store,
    calibration: (_, kind) => (kind === 'headings' ? MEASURED : undefined),
    unmeasured: () => unmeasured,
  });
  const parts: PromptPart[] = [
    { kind: 'text', tokens: Int32Array.of(1) },
    { kind: 'chunk', tokens: EDITED },
    { kind: 'text', tokens: Int32Array.of(9) },
  ];
  const plan = (strategy: StrategyOrAuto) => planner.plan(parts, { model, dtype: 'f16', past: 0, strategy });
  return { costs, model, store, similar, planner, plan };
}

function pieces(...counts: [number, Piece['tier']][]): Piece[] {
  return counts.map(([tokens, tier]) => ({ tokens, tier, bytes: tokens * 10 }));
}

test('a passage partly contained in another is planned with its reused and its computed parts', async () => {
  const { costs, model, similar, planner, plan, store } = await fixture(OLD);
  const planned = await plan(DEVIATION);
  // The edit, and two tokens at each seam.
  const work = { past: 0, pieces: pieces([1, null], [188, 'disk'], [6, null], [198, 'disk'], [1, null]) };
  expect(planned.decision.predicted).toEqual(costs.predict(model.info, work, DEVIATION));
  expect(planned.decision).toMatchObject({ tier: 'disk', fellBack: false });

  const session = model.createSession(1000);
  const blended = await blend(planned.parts, { model, store, session, dtype: 'f16', strategy: DEVIATION });
  expect(blended.outcomes).toEqual(['partial']);
  expect(similar).toHaveBeenCalledTimes(1);
  expect(planner.done(planned, blended)).toMatchObject({ computedInstead: 0 });
});

test('what is in the memory of the model’s device is planned as nothing to load, and teaches nothing of loading', async () => {
  const { costs, model, planner, plan, store } = await fixture(EDITED);
  expect((await plan(DEVIATION)).decision.tier).toBe('disk');
  model.there.add(keyFor(model, 'f16', { tokens: EDITED }));
  const planned = await plan(DEVIATION);
  expect(planned.decision).toMatchObject({ tier: 'device', predicted: { load: 0 } });

  const session = model.createSession(1000);
  const blended = await blend(planned.parts, { model, store, session, dtype: 'f16', strategy: DEVIATION });
  expect(planner.done(planned, blended)).toMatchObject({ tier: 'device' });
  expect(costs.knows(model.info, 'device')).toBe(true);
});

test('a prompt whose only passage is matched in part is blended, not taken for one of which nothing is cached', async () => {
  const { plan } = await fixture(OLD);
  expect((await plan({ kind: 'auto' })).decision.reason).not.toBe('nothing-cached');
  const { plan: miss } = await fixture(Int32Array.from(OLD, (token) => -token));
  expect((await miss({ kind: 'auto' })).decision.reason).toBe('nothing-cached');
});

test('what is stored itself, and a full prefill, ask for nothing similar', async () => {
  const { plan, similar } = await fixture(OLD, EDITED);
  expect((await plan(DEVIATION)).parts[1]).not.toHaveProperty('runs');
  const { plan: missing, similar: asked } = await fixture(OLD);
  expect((await missing({ kind: 'full' })).parts[1]).not.toHaveProperty('runs');
  expect([similar.mock.calls, asked.mock.calls]).toEqual([[], []]);
});

test.each([[undefined, 'query']] as const)(
  'a calibration decides for the kind of text it was measured on; other text gets %j',
  async (unmeasured, usual) => {
    const { planner, model, store } = await fixtureWith(unmeasured);
    const [lead, none] = [Int32Array.of(5), new Int32Array(0)];
    const [mine, theirs] = [{ libraryId: '1' }, { libraryId: null }].map((source): PromptPart['source'] => ({
      ...{ document: 'd', documentId: null, title: '', ordinal: 0 },
      ...source,
    }));
    const choiceFor = async (chunk: Pick<PromptPart, 'lead' | 'source'>) => {
      await encodeAndStore(model, store, [{ tokens: OLD, lead: chunk.lead }], { dtype: 'f16', label: '' });
      const parts: PromptPart[] = [
        { kind: 'chunk', tokens: OLD, ...chunk },
        { kind: 'text', tokens: Int32Array.of(9) },
      ];
      const { decision } = await planner.plan(parts, {
        model,
        ...{ dtype: 'f16', past: 0, strategy: { kind: 'auto' } },
      });
      return decision.reason === 'full-is-faster' ? 'full' : decision.choice.name;
    };
    expect(await choiceFor({ lead, source: mine })).toBe('deviation');
    expect(await choiceFor({ lead: none, source: mine })).toBe(usual);
    expect(await choiceFor({ lead: none, source: theirs })).toBe(usual);
  },
);
