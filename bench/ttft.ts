/**
 * Time to first token by method, in one run on one machine: llama.cpp (libllama with the settings that are fastest here; its
 * prefix cache; its cache reuse by K-shift) beside our full prefill, full reuse and blending, by context and tier.
 *
 *   npm run bench:ttft -- [--model F.gguf | --shape 0.6b --type q8_0] [--contexts 1024,2048,4096] [--chunks 512]
 *                         [--question 32] [--ratios 0.05,0.15,0.3] [--runs 3] [--no-tiers] [--no-turns] [--no-llama]
 *                         [--only REGEX] [--witness] [--threads N] [--cpu haswell] [--out FILE.json]
 *
 * Runs are interleaved (one of each method, then the next round), and ratios are taken to llama.cpp's run of the same
 * round, so that a machine that slows down slows all of them. llama.cpp runs in a process of its own, so that memory is
 * told apart. --cpu makes both engines use that CPU's instructions only. Token ids are random: the work does not depend on them. Writes JSON, and a plot beside it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { shapedModel } from '../tools/random-model/random-model.ts';
import { SHAPES } from '../tools/random-model/shapes.ts';
import { commit, machine, median, peakRssMiB, stealTicks } from './lib/machine.ts';
import { barsOf, type Bar } from './ttft/bars.ts';
import { fastest, llamaMethods, type Llama } from './ttft/llama.ts';
import { ourMethods, type Method, type Run } from './ttft/ours.ts';
import { plot } from './ttft/plot.ts';
import { buildCase, disposeCase, PREFIX, randomIds, type Case } from './ttft/prompt.ts';
import { measurePeaks, rooflineOf } from './ttft/roofline.ts';
import { printRows, rowOf, type Row } from './ttft/table.ts';
import { witness } from './ttft/witness.ts';
import { workOf } from './ttft/work.ts';

const { values: args } = parseArgs({
  allowNegative: true,
  options: {
    model: { type: 'string' },
    shape: { type: 'string', default: '0.6b' },
    type: { type: 'string', default: 'q8_0' },
    contexts: { type: 'string', default: '1024,2048,4096' },
    chunks: { type: 'string', default: '512' },
    question: { type: 'string', default: '32' },
    ratios: { type: 'string', default: '0.05,0.15,0.3' },
    runs: { type: 'string', default: '3' },
    decode: { type: 'string', default: '32' },
    threads: { type: 'string', default: '0' },
    tiers: { type: 'boolean', default: true },
    turns: { type: 'boolean', default: true },
    llama: { type: 'boolean', default: true },
    witness: { type: 'boolean', default: false },
    only: { type: 'string' },
    cpu: { type: 'string' },
    out: { type: 'string' },
  },
});

// Another machine's instructions, for both: ggml's library for that CPU, and our kernel that needs no more.
if (args.cpu !== undefined) {
  process.env.KVASIR_CPU = args.cpu;
  process.env.KVASIR_ATTENTION = args.cpu === 'haswell' ? 'avx2' : 'generic';
}

/** Lets the pools of the method before go to sleep: two pools that spin on the same cores slow each other. */
const SETTLE_MS = 700;
/** Tokens that llama.cpp's settings are tried with. */
const TRIAL_TOKENS = 1024;

/** Methods whose distance from the machine's limits is printed. */
const ROOFLINE = /^full prefill$|^deviation .*, RAM$/;

const numbers = (list: string): number[] => list.split(',').map(Number);
const contexts = numbers(args.contexts);
const questionTokens = Number(args.question);
const only = args.only === undefined ? undefined : new RegExp(args.only);
const path = args.model ?? shapedModel(args.shape, args.type, 32768);

/** All rounds of one case, the methods in turn. */
async function runRounds(methods: readonly Method[], prompt: Case): Promise<Map<string, Run[]>> {
  const runs = new Map<string, Run[]>(methods.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(args.runs); round++) {
    for (const { name, run } of methods) {
      await sleep(SETTLE_MS);
      const result = await run(prompt);
      runs.get(name)?.push(result);
      const time = (result.ms / 1000).toFixed(2);
      process.stderr.write(
        `  round ${round + 1}/${args.runs} ${name}: ${time} s (load ${loadavg()[0]?.toFixed(1)})\n`,
      );
    }
  }
  return runs;
}

async function measure(model: Model, methods: readonly Method[], prompt: Case): Promise<Row[]> {
  const runs = await runRounds(methods, prompt);
  const base = runs.get('llama.cpp full prefill') ?? [];
  const chunks = prompt.files.length - prompt.nextChunks.length;
  const bytesOfWeights = Object.values(model.info.buffers).reduce((sum, bytes) => sum + bytes, 0);
  const shape = args.model === undefined ? SHAPES[args.shape] : undefined;
  return methods.map(({ name }) => {
    const own = runs.get(name) ?? [];
    const row = rowOf(name, own, base, { context: prompt.context, chunks });
    const report = own[0]?.report;
    if (!report || !shape) return row;
    const work = workOf(report, shape, model.info.vocabSize, bytesOfWeights);
    return { ...row, ...work, gflops: work.gflop / (row.medianMs / 1000) };
  });
}

/** Greedy decode behind a context, tokens per second. */
async function measureDecode(
  model: Model,
  llama: Llama,
  context: number,
): Promise<{ ours: number; llama: number }> {
  const count = Number(args.decode);
  const ids = randomIds(context, model.info.vocabSize);
  const session = model.createSession(context + count + 8);
  await session.append([{ kind: 'compute', tokens: ids }], { kind: 'full' });
  await llama.truncate(0);
  await llama.prefill(ids);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < 3; i++) {
    await sleep(SETTLE_MS);
    session.truncate(context - 1);
    await session.append([{ kind: 'compute', tokens: ids.slice(-1) }], { kind: 'full' });
    const { tokens, ms } = await session.generate({ maxTokens: count });
    ours.push((tokens.length * 1000) / ms);
    await sleep(SETTLE_MS);
    await llama.truncate(context);
    theirs.push((count * 1000) / (await llama.decode(count)).ms);
  }
  session.dispose();
  return { ours: median(ours), llama: median(theirs) };
}

function printBars(bars: readonly Bar[]): void {
  if (bars.length === 0) return;
  const table = new Table({ head: ['bar', 'wanted', 'measured', ''], style: { head: [], border: [] } });
  for (const { what, bar, measured, met } of bars)
    table.push([what, bar, measured.toFixed(3), met ? 'met' : 'missed']);
  console.log(table.toString());
}

const host = machine();
const steal = stealTicks();
const model = await Engine.open().loadModel(path, { threads: Number(args.threads) });
const { threads, vocabSize } = model.info;
const most = Math.max(...contexts) + questionTokens + 256;
const competitor = args.llama
  ? await fastest({ path, contextTokens: most, threads, vocab: vocabSize }, TRIAL_TOKENS)
  : undefined;
const options = { ratios: numbers(args.ratios), tiers: args.tiers, turns: args.turns };
const methods = [
  ...(competitor ? llamaMethods(competitor.llama) : []),
  ...ourMethods(model, options),
  ...(args.witness ? [await witness({ path, contextTokens: most, threads })] : []),
].filter(({ name }) => !only || only.test(name));

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const rows: Row[] = [];
try {
  for (const context of contexts) {
    for (const chunkTokens of numbers(args.chunks)) {
      process.stderr.write(`${context} tokens in chunks of ${chunkTokens}, behind ${PREFIX}\n`);
      const prompt = await buildCase(model, { context, chunkTokens, questionTokens, dir });
      rows.push(...(await measure(model, methods, prompt)));
      disposeCase(prompt);
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
const decode = competitor && {
  context: Math.max(...contexts),
  ...(await measureDecode(model, competitor.llama, Math.max(...contexts))),
};
const bars = barsOf(rows);
printRows(rows);
if (decode) {
  const ratio = (decode.ours / decode.llama).toFixed(2);
  console.log(
    `decode at ${decode.context} tokens: ${decode.ours.toFixed(2)} tokens/s, llama.cpp ${decode.llama.toFixed(2)} (× ${ratio})`,
  );
}
printBars(bars);
const peaks = measurePeaks(threads);
if (peaks)
  for (const line of rooflineOf(
    rows.filter(({ method }) => ROOFLINE.test(method)),
    peaks,
  ))
    console.log(line);
const result = {
  machine: { ...host, loadAfter: loadavg()[0], stealTicks: stealTicks() - steal },
  threads,
  model: basename(path),
  buffers: model.info.buffers,
  loadMs: model.info.loadMs,
  llama: competitor && { settings: competitor.llama.settings, tried: competitor.tried },
  commit: commit(),
  command: `npm run bench:ttft -- ${process.argv.slice(2).join(' ')}`,
  date: new Date().toISOString(),
  questionTokens,
  peakRssMiB: { ours: peakRssMiB(), llama: (await competitor?.llama.close())?.peakRssMiB },
  peaks,
  decode,
  bars,
  rows,
};
const name = args.model === undefined ? `${args.shape}-${args.type}` : basename(path, '.gguf').slice(0, 40);
const out = args.out ?? join('bench', 'results', `ttft-${name}-${result.commit}.json`);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `${JSON.stringify(result, null, 2)}\n`);
writeFileSync(
  out.replace(/\.json$/, '.svg'),
  plot(rows, `Time to first token, ${name}, ${threads} threads of ${host.cpu}`),
);
console.log(
  `${host.cpu}, ${host.cores} cores, ${threads} threads; peak RSS ${result.peakRssMiB.ours} MiB; written to ${out}`,
);
model.dispose();
