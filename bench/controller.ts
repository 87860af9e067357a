/**
 * Measures how accurately the controller predicts the time to first token and whether it chooses the faster strategy: predicted against
 * measured times, by context, tier and strategy.
 *
 *   npm run bench:controller -- [--model F.gguf | --shape 0.6b --type q8_0] [--contexts 1024,2048,4096] [--chunk 512]
 *                               [--tiers ram,disk,4,0.5] [--question 32] [--runs 2] [--threads N] [--out FILE.json]
 *
 * A numeric tier is a disk throttled to that many Gbit/s; 'disk' is read through a warm page cache. The profile is the one that the app
 * records for a new model. Every run is predicted first and then updates the cost model, as in the app. Token ids are random: the work does
 * not depend on them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Engine, type ChunkKv, type Loading, type Segment } from '../src-main/engine/engine.ts';
import { decide, type Decision, UNCALIBRATED } from '../src-main/fusion/planning/controller.ts';
import { CostModel } from '../src-main/fusion/planning/cost-model.ts';
import { profile } from '../src-main/fusion/planning/profile.ts';
import type { Piece, Work } from '../src-main/fusion/planning/work.ts';
import { engineStrategy, type StrategyOrAuto } from '../src-main/fusion/strategy.ts';
import { STRATEGY_NAMES } from '../src-shared/strategy.ts';
import { cpuTicks, machine, median, stealPercent } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { MODEL_FLAGS, modelFile } from './lib/model-flags.ts';

const { values: args } = parseArgs({
  options: {
    ...MODEL_FLAGS,
    contexts: { type: 'string', default: '1024,2048,4096' },
    tiers: { type: 'string', default: 'ram,disk,4,0.5' },
    chunk: { type: 'string', default: '512' },
    question: { type: 'string', default: '32' },
    runs: { type: 'string', default: '2' },
  },
});

const DTYPE = 'f16';
const chunkTokens = Number(args.chunk);
const questionTokens = Number(args.question);
const tiers = args.tiers.split(',');

interface Prompt {
  question: Int32Array;
  inMemory: ChunkKv[];
  inFiles: ChunkKv[];
}

interface Run {
  context: number;
  tier: string;
  method: string;
  decision: string;
  predictedMs: number;
  measuredMs: number;
}

const engine = Engine.open();
const path = modelFile(args);
const model = await engine.loadModel(path, { threads: Number(args.threads) });
const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const costs = new CostModel(join(dir, 'costs.json'));

function loadingOf(tier: string): Partial<Loading> {
  return tier === 'ram' || tier === 'disk' ? {} : { bytesPerSecond: (Number(tier) * 1e9) / 8 };
}

async function buildPrompt(context: number): Promise<Prompt> {
  const ids = (n: number, seed: number): Int32Array =>
    Int32Array.from({ length: n }, (_, i) => 3 + ((seed * 7919 + i * 104_729) % (model.info.vocabSize - 3)));
  const inMemory: ChunkKv[] = [];
  const inFiles: ChunkKv[] = [];
  for (let i = 0; i < Math.max(1, Math.round(context / chunkTokens)); i++) {
    const chunk = await model.encodeChunk(ids(chunkTokens, i), DTYPE);
    const file = join(dir, `${context}-${i}.kvc`);
    await chunk.save(file);
    inMemory.push(chunk);
    inFiles.push(await model.openChunk(file));
  }
  return { question: ids(questionTokens, 99), inMemory, inFiles };
}

function workOf({ inMemory, question }: Prompt, tier: string): Work {
  const piece = (tokens: number, from: string | null): Piece => ({
    ...{ tokens, tier: from },
    bytes: tokens * model.bytesPerToken(DTYPE),
  });
  return {
    past: 0,
    pieces: [...inMemory.map(({ tokens }) => piece(tokens.length, tier)), piece(question.length, null)],
  };
}

/** Decides, predicts, blends, and updates the cost model. */
async function run(
  prompt: Prompt,
  tier: string,
  strategy: StrategyOrAuto,
): Promise<Omit<Run, 'context' | 'method'>> {
  const work = workOf(prompt, tier);
  const decision = decide(work, strategy, { info: model.info, costs, tiers: [tier] });
  const computed = (i: number): boolean => decision.strategy.kind === 'full' || decision.computed.has(i);
  const chunks = tier === 'ram' ? prompt.inMemory : prompt.inFiles;
  const segments = chunks.map((chunk, i): Segment =>
    computed(i) ? { kind: 'compute', tokens: chunk.tokens } : { kind: 'chunk', chunk },
  );
  const question: Segment = { kind: 'compute', tokens: prompt.question };
  const session = model.createSession(work.pieces.reduce((sum, { tokens }) => sum + tokens, 8));
  try {
    const report = await session.append([...segments, question], decision.strategy, {
      loading: loadingOf(tier),
    });
    const pieces = work.pieces.map((piece, i): Piece => (computed(i) ? { ...piece, tier: null } : piece));
    costs.observe(model.info, { work: { past: 0, pieces }, report, acquireMs: 0 });
    const { predicted } = decision;
    return {
      ...{ tier, decision: described(decision), measuredMs: report.totalMs },
      predictedMs: predicted ? predicted.total - predicted.acquire : NaN, // chunks are already open
    };
  } finally {
    session.dispose();
  }
}

function described({ choice, reason, computed }: Decision): string {
  const ratio =
    choice.name === 'none' || choice.name === 'full' ? '' : ` ${Math.round(choice.ratio * 100)} %`;
  return `${choice.name}${ratio} (${reason}${computed.size > 0 ? `, ${computed.size} computed` : ''})`;
}

const METHODS: Record<string, StrategyOrAuto> = {
  auto: { kind: 'auto' },
  'floor, all loaded': engineStrategy(UNCALIBRATED, model.info.kvLayers),
  ...Object.fromEntries(
    STRATEGY_NAMES.filter((name) => name !== UNCALIBRATED.name).map((name) => [
      name,
      engineStrategy({ name, ratio: 0.15 }, model.info.kvLayers),
    ]),
  ),
};

const error = ({ predictedMs, measuredMs }: Run): number => (predictedMs - measuredMs) / measuredMs;

/** Groups the runs into cases; each group has the rounds of one case. */
function cases(runs: readonly Run[]): Run[][] {
  const groups = Map.groupBy(runs, ({ context, tier, method }) => `${context} ${tier} ${method}`);
  return [...groups.values()];
}

function summary(runs: readonly Run[]) {
  const firstRound = cases(runs).flatMap(([first]) => first ?? []);
  const decisions = cases(runs).flatMap((group) => {
    const [first] = group;
    if (first?.method !== 'auto') return [];
    const ms = (method: string): number =>
      median(runs.filter((r) => r.context === first.context && r.tier === first.tier && r.method === method).map((r) => r.measuredMs)); // prettier-ignore
    const alternatives = { full: ms('full'), floor: ms('floor, all loaded') };
    const fastest = Math.min(...Object.values(alternatives));
    return [{ context: first.context, tier: first.tier, took: group.at(-1)?.decision, ms: ms('auto'), alternatives, toFastest: ms('auto') / fastest }]; // prettier-ignore
  });
  return {
    medianErrorFirstRound: median(firstRound.map((r) => Math.abs(error(r)))),
    medianError: median(runs.map((r) => Math.abs(error(r)))),
    decisions,
  };
}

const host = machine();
const ticks = cpuTicks();
try {
  const step = <T>(work: (options: object) => Promise<T>): Promise<T> => work({});
  const profileMs: Record<string, number> = {};
  for (const tier of tiers.filter((name) => name !== 'ram')) {
    const started = performance.now();
    await profile({ model, costs, dtype: DTYPE, dir, step, tier, loading: loadingOf(tier) });
    profileMs[tier] = performance.now() - started;
    process.stderr.write(`profile of ${tier}: ${(profileMs[tier] / 1000).toFixed(1)} s\n`);
  }
  const runs: Run[] = [];
  for (const context of args.contexts.split(',').map(Number)) {
    const prompt = await buildPrompt(context);
    for (let round = 0; round < Number(args.runs); round++) {
      for (const tier of tiers) {
        for (const [method, strategy] of Object.entries(METHODS)) {
          const made: Run = { context, method, ...(await run(prompt, tier, strategy)) };
          runs.push(made);
          process.stderr.write(`  ${context} ${tier} ${method}: ${made.decision}, predicted ${made.predictedMs.toFixed(0)} ms, took ${made.measuredMs.toFixed(0)} ms\n`); // prettier-ignore
        }
      }
    }
    for (const chunk of [...prompt.inMemory, ...prompt.inFiles]) chunk.dispose();
  }
  const found = summary(runs);
  print(runs, found);
  const result = {
    machine: host,
    stealPercent: stealPercent(ticks),
    threads: model.info.threads,
    model: basename(path),
    chunkTokens,
    questionTokens,
    profileMs,
    ...found,
    runs,
  };
  const name = `controller-${args.model ? basename(path, '.gguf') : `${args.shape}-${args.type}`}.json`;
  const out = args.out ?? join('bench', 'results', name);
  console.log(`${host.cpu}, ${model.info.threads} threads`);
  writeResult('controller', out, result);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
model.dispose();

function print(
  runs: readonly Run[],
  { medianErrorFirstRound, medianError, decisions }: ReturnType<typeof summary>,
): void {
  const table = new Table({
    head: ['context', 'tier', 'method', 'done', 'predicted ms', 'measured ms', 'off by'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const group of cases(runs)) {
    const [first] = group;
    const last = group.at(-1);
    if (!first || !last) continue;
    const off = median(group.map((r) => Math.abs(error(r))));
    table.push([first.context, first.tier, first.method, last.decision, median(group.map((r) => r.predictedMs)).toFixed(0), median(group.map((r) => r.measuredMs)).toFixed(0), `${(off * 100).toFixed(0)} %`]); // prettier-ignore
  }
  console.log(table.toString());
  for (const { context, tier, took, ms, alternatives, toFastest } of decisions)
    console.log(
      `${context} ${tier}: took ${took}, ${ms.toFixed(0)} ms; floor ${alternatives.floor.toFixed(0)} ms, full prefill ${alternatives.full.toFixed(0)} ms (× ${toFastest.toFixed(2)} of the faster)`,
    );
  console.log(
    `median error ${(medianError * 100).toFixed(1)} %; first rounds alone, after the profile and the cases before, ${(medianErrorFirstRound * 100).toFixed(1)} %`,
  );
}
