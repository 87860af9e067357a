/** Loading from another machine over a throttled link, compared with computing: predictions for both, and the controller's decision. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { blend, type PromptPart } from '../../src-main/fusion/blender.ts';
import { encodeAndStore } from '../../src-main/fusion/encode-chunks.ts';
import { UNCALIBRATED } from '../../src-main/fusion/planning/controller.ts';
import { CostModel } from '../../src-main/fusion/planning/cost-model.ts';
import { Planner } from '../../src-main/fusion/planning/planner.ts';
import { profile } from '../../src-main/fusion/planning/profile.ts';
import { engineStrategy, type StrategyOrAuto } from '../../src-main/fusion/strategy.ts';
import { Engine, type Model } from '../../src-main/engine/engine.ts';
import { ChunkStore } from '../../src-main/kvstore/store.ts';
import { silentLogger } from '../../src-main/platform/logger.ts';
import type { Driver } from '../../src-main/sharing/driver.ts';
import { FolderDriver } from '../../src-main/sharing/drivers/folder.ts';
import { SharedCache } from '../../src-main/sharing/shared-cache.ts';
import { shapedModel } from '../../tools/random-model/random-model.ts';
import { median } from '../lib/machine.ts';
import { ThrottledDriver } from './throttled-driver.ts';

const DTYPE = 'f16';

interface LineOptions {
  gbit: number;
  type: string;
  contextTokens: number;
  chunkTokens: number;
  questionTokens: number;
  rounds: number;
  threads: number;
  device: string;
}

/** The controller's choice, and its two options. */
const WAYS = ['auto', 'load', 'compute'] as const;
type ReuseMethod = (typeof WAYS)[number];

interface Run {
  round: number;
  way: ReuseMethod;
  /** Executed plan. */
  did: string;
  predictedMs: number;
  measuredMs: number;
  /** Relative error of the prediction. */
  error: number;
}

interface LinkResult {
  shape: string;
  threads: number;
  /** KV bytes per token. */
  bytesPerToken: number;
  /** Medians over rounds, in milliseconds. */
  ways: Record<ReuseMethod, { did: string; predictedMs: number; measuredMs: number }>;
  /** The faster of the two, by the medians. */
  sooner: ReuseMethod;
  /** How often the controller chose each plan; it may load some chunks and compute others meanwhile. */
  chosen: Record<string, number>;
  /** The controller's time relative to the faster option. */
  toSooner: number;
  medianError: number;
  worstError: number;
  runs: Run[];
}

interface Machine {
  store: ChunkStore;
  tier: SharedCache;
}

/** A model, a machine that computes its chunks, and a machine with only the link to it. */
interface Team {
  model: Model;
  first: Machine;
  second: Machine;
  planner: Planner;
}

export async function measureLine(shape: string, options: LineOptions): Promise<LinkResult> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-line-'));
  const engine = Engine.open();
  const { threads, device } = options;
  const model = await engine.loadModel(shapedModel(shape, options.type, 32768), { threads, device });
  const place = (): Driver =>
    new FolderDriver({ dir: join(dir, 'place'), readOnly: false, limitBytes: Infinity });
  mkdirSync(join(dir, 'place'));
  const line = new ThrottledDriver(place(), (options.gbit * 1e9) / 8);
  const [first, second] = [
    await machine(join(dir, 'first'), engine, place()),
    await machine(join(dir, 'second'), engine, line),
  ];
  try {
    const costs = new CostModel(join(dir, 'costs.json'));
    second.store.shared?.onTransfer((transfer) => costs.observeTransfer(transfer));
    // As in the app for a new model.
    await profile({ model, costs, dtype: DTYPE, dir, step: (work) => work({}) });
    const planner = new Planner({ costs, store: second.store, calibration: () => undefined });
    const runs = await measureRounds({ model, first, second, planner }, options);
    return summary(shape, model, runs);
  } finally {
    for (const { store, tier } of [first, second]) {
      tier.close();
      await store.close();
    }
    model.dispose();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function machine(dir: string, engine: Engine, driver: Driver): Promise<Machine> {
  const tier = new SharedCache({
    ...{ driver, where: 'the line', writable: true, salt: '', log: silentLogger, onChange: () => undefined },
  });
  const budgets = { diskBudgetBytes: 1e12, ramBudgetBytes: 0 };
  const store = await ChunkStore.open({ dir, ...budgets, files: engine, shared: tier });
  return { store, tier };
}

/** Each round has different chunks, and another order of ways. */
async function measureRounds(team: Team, options: LineOptions): Promise<Run[]> {
  const runs: Run[] = [];
  const { model, first } = team;
  for (let round = 0; round < options.rounds; round++) {
    const parts = promptOf(model, round, options);
    for (const part of parts)
      if (part.kind === 'chunk')
        await encodeAndStore(model, first.store, [part], { dtype: DTYPE, label: '' });
    await first.tier.settled();
    for (const [turn] of WAYS.entries()) {
      const way = WAYS[(round + turn) % WAYS.length] ?? 'auto';
      const run = { round, way, ...(await measure(team, parts, way)) };
      runs.push(run);
      process.stderr.write(
        `  round ${round + 1}, ${way}: ${run.did}, predicted ${run.predictedMs.toFixed(1)} ms, took ${run.measuredMs.toFixed(1)} ms\n`,
      );
    }
  }
  return runs;
}

function promptOf(model: Model, round: number, options: LineOptions): PromptPart[] {
  const { contextTokens, chunkTokens, questionTokens } = options;
  const vocab = model.info.vocabSize - 3;
  const ids = (count: number, seed: number): Int32Array =>
    Int32Array.from({ length: count }, (_, i) => 3 + ((seed * 7919 + i * 104_729) % vocab));
  const chunks = Math.max(1, Math.round(contextTokens / chunkTokens));
  return [
    ...Array.from({ length: chunks }, (_, i): PromptPart => ({
      kind: 'chunk',
      tokens: ids(chunkTokens, round * chunks + i + 1),
    })),
    { kind: 'text', tokens: ids(questionTokens, 9999) },
  ];
}

/** Plans a prompt that is not cached on this machine and executes the plan, then drops all local copies. */
async function measure(
  { model, second: { store }, planner }: Team,
  parts: readonly PromptPart[],
  way: ReuseMethod,
): Promise<Omit<Run, 'round' | 'way'>> {
  const { kvLayers } = model.info;
  const strategies: Record<ReuseMethod, StrategyOrAuto> = {
    auto: { kind: 'auto' },
    load: engineStrategy(UNCALIBRATED, kvLayers),
    compute: { kind: 'full' },
  };
  const request = { model, dtype: DTYPE, past: 0, strategy: strategies[way] } as const;
  const planned = await planner.plan(parts, request);
  const session = model.createSession(parts.reduce((sum, { tokens }) => sum + tokens.length, 8));
  try {
    const { strategy, predicted } = planned.decision;
    const done = await blend(planned.parts, { model, store, session, dtype: DTYPE, strategy });
    const { outcomeMs, errorShare } = planner.done(planned, done);
    if (!predicted || errorShare === null) throw new Error('the plan has no prediction');
    const loaded = done.outcomes.filter((tier) => tier === 'shared').length;
    const did = `${loaded} of ${done.outcomes.length} loaded`;
    return { did, predictedMs: predicted.total, measuredMs: outcomeMs, error: errorShare };
  } finally {
    session.dispose();
    await store.idle();
    await store.evict({ all: true });
  }
}

function summary(shape: string, model: Model, runs: Run[]): LinkResult {
  const of = (way: ReuseMethod): Run[] => runs.filter((run) => run.way === way);
  const middle = (way: ReuseMethod) => ({
    did: of(way)[0]?.did ?? '',
    predictedMs: median(of(way).map(({ predictedMs }) => predictedMs)),
    measuredMs: median(of(way).map(({ measuredMs }) => measuredMs)),
  });
  const ways = { auto: middle('auto'), load: middle('load'), compute: middle('compute') };
  const sooner = ways.load.measuredMs < ways.compute.measuredMs ? 'load' : 'compute';
  const chosen = Map.groupBy(of('auto'), ({ did }) => did);
  const errors = runs.map(({ error }) => Math.abs(error));
  return {
    shape,
    threads: model.info.threads,
    bytesPerToken: model.bytesPerToken(DTYPE),
    ways,
    sooner,
    chosen: Object.fromEntries([...chosen].map(([did, { length }]) => [did, length])),
    toSooner: ways.auto.measuredMs / ways[sooner].measuredMs,
    medianError: median(errors),
    worstError: Math.max(...errors),
    runs,
  };
}

export function printLine(shapes: readonly LinkResult[]): void {
  const table = new Table({
    head: ['shape', 'way', 'done', 'predicted ms', 'measured ms', 'off by'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const { shape, ways, runs } of shapes)
    for (const way of WAYS) {
      const { did, predictedMs, measuredMs } = ways[way];
      const off = median(runs.filter((run) => run.way === way).map(({ error }) => Math.abs(error)));
      table.push([shape, way, did, predictedMs.toFixed(1), measuredMs.toFixed(1), percent(off)]);
    }
  console.log(table.toString());
  for (const { shape, sooner, chosen, toSooner, medianError, worstError, bytesPerToken } of shapes) {
    const how = Object.entries(chosen).map(([did, rounds]) => `${did} in ${rounds} rounds`);
    console.log(
      `${shape} (${(bytesPerToken / 1000).toFixed(1)} kB per token): faster: ${sooner}; controller: ${how.join(', ')}, × ${toSooner.toFixed(2)} of the faster; ` +
        `prediction error: median ${percent(medianError)}, maximum ${percent(worstError)}`,
    );
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
