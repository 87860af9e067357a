/** The shared tier with the real engine: two data folders, a shared folder, and a connection that is slow, fails or returns wrong data. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { FusionPlan } from '../src-shared/plan.ts';
import { App } from '../src-main/app.ts';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { blend, type BlendResult } from '../src-main/fusion/blender.ts';
import { CostModel } from '../src-main/fusion/planning/cost-model.ts';
import { Planner } from '../src-main/fusion/planning/planner.ts';
import { profile } from '../src-main/fusion/planning/profile.ts';
import { ChunkStore } from '../src-main/kvstore/store.ts';
import { cut, FolderTier } from '../src-main/testing/shared-tier.ts';
import { blended, encodeAll, keysOf, prompt, SMALL, STRATEGY } from './support/shared-prompt.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { readLibrary, type ReadLibrary } from './support/library.ts';

/** Computing a token takes hundreds of times as long, its KV is half as large again. */
const LARGE = { layers: 12, embd: 512, heads: 16, 'kv-heads': 1, 'head-dim': 32, ff: 6144, vocab: 512 };

let work: string;
let engine: Engine;
let model: Model;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'kvasir-shared-'));
  engine = Engine.open();
  model = await load(SMALL);
});

afterAll(() => {
  model.dispose();
  rmSync(work, { recursive: true, force: true });
});

function load(shape: Record<string, number>): Promise<Model> {
  const path = randomModel({ ...shape, context: 2048, type: 'f16' }, work);
  return engine.loadModel(path, { threads: 1, device: 'cpu' });
}

function folder(): string {
  return mkdtempSync(join(work, 'data-'));
}

async function openStore(shared: FolderTier): Promise<ChunkStore> {
  const options = { dir: folder(), diskBudgetBytes: 1e9, ramBudgetBytes: 0, files: engine, shared };
  const store = await ChunkStore.open(options);
  onTestFinished(() => store.close());
  return store;
}

/** A machine that has computed a prompt's passages, one that has not, and their shared folder. */
async function machines() {
  const tier = new FolderTier(folder());
  const [first, second] = [await openStore(tier), await openStore(tier)];
  const parts = prompt(model);
  await encodeAll(model, first, parts);
  return { tier, first, second, parts, keys: keysOf(model, parts) };
}

/** Delays all but the first range of each value until all are leased, so that none arrives earlier; `then` supplies the data. */
function heldBack(
  tier: FolderTier,
  then: NonNullable<FolderTier['onRead']> = (_key, _from, range) => range,
): () => void {
  const { promise: leased, resolve } = Promise.withResolvers<undefined>();
  tier.onRead = async (key, from, range) => {
    if (from > 0) await leased;
    return then(key, from, range);
  };
  return () => resolve(undefined);
}

test('from another machine: logits bit-identical to those from a disk, and the chunks are then cached here', async () => {
  const { tier, first, second, parts } = await machines();
  const here = await blended(model, first, parts);
  expect(here.outcomes).toEqual(['disk', 'disk']);
  const there = await blended(model, second, parts, heldBack(tier));
  expect(there.outcomes).toEqual(['shared', 'shared']);
  expect(there.logits).toEqual(here.logits);
  expect(there.report.selected).toEqual(here.report.selected);
  await second.idle();
  const again = await blended(model, second, parts);
  expect(again.outcomes).toEqual(['disk', 'disk']);
  expect(again.logits).toEqual(here.logits);
  expect((await second.verify()).corrupt).toEqual([]);
});

test('a connection lost mid-load: the answer completes, missing data is computed', async () => {
  const { tier, first, second, parts, keys } = await machines();
  const [, cutKey] = keys;
  const release = heldBack(tier, (key, from, range) => (key === cutKey && from > 0 ? cut() : range));
  const { outcomes, lost, quarantined, logits } = await blended(model, second, parts, release);
  expect({ outcomes, lost, quarantined }).toEqual({
    outcomes: ['shared', 'computed'],
    lost: [1],
    quarantined: [],
  });
  const oneComputed = parts.map((part, i) => (i === 2 ? { ...part, compute: true } : part));
  expect(logits).toEqual((await blended(model, first, oneComputed)).logits);
  await second.idle();
  expect(second.stats()).toMatchObject({ entries: 1, shared: { failed: 1, corrupt: 0 } });
});

test('a tampered value is never used, and is reported', async () => {
  const { tier, first, second, parts, keys } = await machines();
  const bytes = readFileSync(tier.path(keys[0]!));
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(tier.path(keys[0]!), bytes);
  const { outcomes, lost, quarantined, logits } = await blended(model, second, parts, heldBack(tier));
  expect({ outcomes, lost, quarantined }).toEqual({
    outcomes: ['computed', 'shared'],
    lost: [],
    quarantined: [0],
  });
  const oneComputed = parts.map((part, i) => (i === 1 ? { ...part, compute: true } : part));
  expect(logits).toEqual((await blended(model, first, oneComputed)).logits);
  await second.idle();
  expect(tier.corrupt).toEqual([keys[0]]);
  expect(second.stats()).toMatchObject({ entries: 1, shared: { failed: 0, corrupt: 1 } });
  tier.opened.length = 0;
  expect((await blended(model, second, parts)).outcomes).toEqual(['computed', 'disk']);
  expect(tier.opened).toEqual([]);
});

test('a stopped question does not wait for the network', async () => {
  const { tier, second, parts, keys } = await machines();
  const { promise: never, resolve } = Promise.withResolvers<undefined>();
  tier.onRead = async (_key, from, range) => {
    if (from > 0) await never;
    return range;
  };
  await second.shared?.locate(keys);
  const session = model.createSession(1024);
  const stop = new AbortController();
  const options = { model, store: second, session, dtype: 'f16' as const, strategy: STRATEGY };
  const answer = blend(parts, {
    ...options,
    signal: stop.signal,
    onAcquired: () => setTimeout(() => stop.abort(), 20),
  });
  await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
  resolve(undefined);
  await second.idle();
  expect((await blended(model, second, parts)).outcomes).toEqual(['disk', 'disk']);
  session.dispose();
});

test.each([
  ['a model that computes slowly loads from the shared cache', LARGE, 'shared'],
  ['a model that computes fast computes', SMALL, null],
] as const)('over 1 Gbit/s, 100 ms away: %s', async (_title, shape, expected) => {
  const own = await load(shape);
  onTestFinished(() => own.dispose());
  const tier = new FolderTier(folder());
  const [first, second] = [await openStore(tier), await openStore(tier)];
  tier.bytesPerSecond = 125e6;
  tier.latencyMs = 100;
  const costs = new CostModel(join(folder(), 'costs.json'));
  second.shared?.onTransfer((transfer) => costs.observeTransfer(transfer));
  await profile({ model: own, costs, dtype: 'f16', dir: folder(), step: (task) => task({}) });
  const planner = new Planner({ costs, store: second, calibration: () => undefined });
  for (const round of [0, 1]) {
    const parts = prompt(own, 400, round);
    await encodeAll(own, first, parts);
    const request = { model: own, dtype: 'f16' as const, past: 0, strategy: { kind: 'auto' } as const };
    const planned = await planner.plan(parts, request);
    expect(planned.decision.predicted).not.toBeNull();
    expect(planned.decision).toMatchObject({ tier: expected, fellBack: expected === null });
    const session = own.createSession(1024);
    const { strategy } = planned.decision;
    const done = await blend(planned.parts, { model: own, store: second, session, dtype: 'f16', strategy });
    session.dispose();
    await second.idle();
    const from = expected ?? 'computed';
    expect(done.outcomes).toEqual([from, from]);
    const plan = planner.done(planned, done);
    expect(plan.tier).toBe(expected);
    tell(plan, done);
  }
});

/** Prints the times without asserting them: other load on the machine is unknown. */
function tell(plan: FusionPlan, { acquireMs, report: { stages } }: BlendResult): void {
  const ms = (value: number | null | undefined) => `${(value ?? NaN).toFixed(0)} ms`;
  const { predictedTtftMs, predictedFullPrefillMs, outcomeMs, errorShare } = plan;
  console.log(
    `expected ${ms(predictedTtftMs?.total)} (opening ${ms(predictedTtftMs?.acquire)}, waiting ${ms(predictedTtftMs?.load)}; computing all: ${ms(predictedFullPrefillMs)}), ` +
      `took ${ms(outcomeMs)} (${ms(acquireMs)}, ${ms(stages.loadWait)}): ${((errorShare ?? NaN) * 100).toFixed(0)} %`,
  );
}

test('the second machine computes no chunk of a library that the first one has read', async () => {
  const shared = new FolderTier(folder());
  const open = async (): Promise<ReadLibrary & { app: App }> => {
    const app = await App.open({ dataDir: folder(), shared });
    onTestFinished(() => app.close());
    const path = join(app.paths.sampleLibrary, 'people');
    return { app, ...(await readLibrary(app, { path })) };
  };
  const first = await open();
  const computed = first.precompute!;
  expect(computed.computed).toBeGreaterThan(0);
  const second = await open();
  const fetched = second.precompute!;
  expect(fetched).toMatchObject({ computed: 0, fetched: computed.computed, tokens: 0 });
  const question = {
    question: 'Where does Elsa Wexler sit?',
    strategy: { name: 'none' as const },
    topK: 3,
    maxTokens: 8,
  };
  const [mine, theirs] = [await first.ask(question), await second.ask(question)];
  expect(theirs.answer).toBe(mine.answer);
  expect(theirs.sources.map(({ tier }) => tier)).toEqual(mine.sources.map(({ tier }) => tier));
  expect(readdirSync(join(second.app.paths.store, 'quarantine'))).toEqual([]);
});
