/**
 * Measures time to first token by method, in one run on one machine: llama.cpp (libllama with its fastest settings here; its prefix cache;
 * its cache reuse by K-shift) next to our full prefill, full reuse and blending, by context and tier.
 *
 *   npm run bench:ttft -- [--model F.gguf | --shape 0.6b --type q8_0] [--contexts 1024,2048,4096] [--chunks 512]
 *                         [--question 32] [--ratios 0.05,0.15,0.3] [--formats k8v4,q4] [--runs 3] [--no-tiers] [--no-turns]
 *                         [--no-llama] [--only REGEX] [--witness] [--llama-bench 'FILE [SETTINGS]'] [--decode 32] [--trial 1024]
 *                         [--threads N] [--device NAME] [--cpu haswell] [--out FILE.json]
 *
 * Runs are interleaved (one of each method, then the next round), and ratios are relative to llama.cpp's run of the same round, so that a
 * machine that slows down slows all of them; --runs takes one number, or one per context. llama.cpp runs in a separate process, so that
 * memory is measured separately. --cpu restricts both engines to that CPU's instructions, --device runs both on that device. --trial is the
 * number of tokens for the trial of llama.cpp's settings; --llama-bench adds a full prefill by another build, such as ik_llama.cpp's.
 * --formats stores the chunks in these number formats, too. Token ids are random: the work does not depend on them. Writes JSON, and a plot and a table next to it.
 * bench/README.md has the commands of the published results.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { basename, dirname, join } from 'node:path';
import Table from 'cli-table3';
import type { Model } from '../src-main/engine/engine.ts';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { shapedModel } from '../tools/random-model/random-model.ts';
import { SHAPES } from '../tools/random-model/shapes.ts';
import { commit, cpuTicks, machine, peakRssMiB, quoted, stealPercent } from './lib/machine.ts';
import { barsOf, type Bar } from './ttft/bars.ts';
import { measureDecode } from './ttft/decode.ts';
import { llamaBenchMethod } from './ttft/llama-bench.ts';
import { fastest, llamaMethods } from './ttft/llama.ts';
import { optionsFrom } from './ttft/options.ts';
import { ourMethods, warmUp, type Method } from './ttft/ours.ts';
import { plot } from './ttft/plot.ts';
import { buildCase, disposeCase, PREFIX, type Case } from './ttft/prompt.ts';
import { measurePeaks, rooflineOf } from './ttft/roofline.ts';
import { runRounds } from './ttft/rounds.ts';
import { firstTokensOf, markdownOf, printRows, rowOf, type Row } from './ttft/table.ts';
import { openWitness } from './ttft/witness.ts';
import { workOf } from './ttft/work.ts';

const args = optionsFrom(process.argv.slice(2));

// Another CPU's instructions, for both engines: ggml's library for that CPU, and our kernels that need no more.
if (args.cpu !== undefined) {
  process.env.KVASIR_CPU = args.cpu;
  process.env.KVASIR_ATTENTION = args.cpu === 'haswell' ? 'avx2' : 'generic';
  process.env.KVASIR_MATMUL = args.cpu === 'haswell' ? 'avx2-int16' : 'ggml';
}

/** Decoding is measured after the largest context up to this. */
const DECODE_CONTEXT = 4096;

/** Methods whose distance from the machine's limits is printed. */
const ROOFLINE = /^(llama.cpp )?full prefill$|^(default|query) .*, RAM$/;

/** Folder of chunk files; the system's temporary folder may be in memory. */
const SCRATCH = join(import.meta.dirname, '..', 'build');

const path = args.model ?? shapedModel(args.shape, args.type, 32768);

async function measure(
  model: Model,
  methods: readonly Method[],
  prompt: Case,
  rounds: number,
): Promise<Row[]> {
  const runs = await runRounds(methods, prompt, rounds);
  const llama = runs.get('llama.cpp full prefill') ?? [];
  const full = runs.get('full prefill') ?? [];
  const chunks = prompt.files.length - prompt.nextChunks.length;
  const bytesOfWeights = Object.values(model.info.buffers).reduce((sum, bytes) => sum + bytes, 0);
  const shape = args.model === undefined ? SHAPES[args.shape] : undefined;
  return methods.map(({ name }) => {
    const own = runs.get(name) ?? [];
    const row = rowOf(name, own, { llama, full }, { context: prompt.context, chunks });
    // llama.cpp's full prefill has the same work as ours.
    const report = (name === 'llama.cpp full prefill' ? runs.get('full prefill') : own)?.[0]?.report;
    if (!report || !shape) return row;
    const work = workOf(report, shape, model.info.vocabSize, bytesOfWeights);
    return { ...row, ...work, gflops: work.gflop / (row.medianMs / 1000) };
  });
}

function printBars(bars: readonly Bar[]): void {
  if (bars.length === 0) return;
  const table = new Table({ head: ['bar', 'wanted', 'measured', ''], style: { head: [], border: [] } });
  for (const { what, bar, measured, met } of bars)
    table.push([what, bar, measured.toFixed(3), met ? 'met' : 'missed']);
  console.log(table.toString());
}

const host = machine();
const ticks = cpuTicks();
// Without this, repeated runs would find their chunks in device memory, whatever their tier.
const kept = { deviceBudgetBytes: 0 };
const model = await openWithPacks().loadModel(path, { threads: args.threads, device: args.device, ...kept });
const { threads, vocabSize } = model.info;
const most = Math.max(...args.contexts) + args.questionTokens + 256;
const competitor = args.llama
  ? await fastest({ path, contextTokens: most, threads, vocab: vocabSize, device: args.device }, args.trial)
  : undefined;
const witness = args.witness ? await openWitness({ path, contextTokens: most, threads }) : undefined;
const methods = [
  ...(competitor ? llamaMethods(competitor.llama) : []),
  ...ourMethods(model, args),
  ...(args.llamaBench === undefined ? [] : [llamaBenchMethod(args.llamaBench, path, threads)]),
  ...(witness ? [witness.method] : []),
].filter(({ name }) => args.only?.test(name) ?? true);

const dir = mkdtempSync(join(SCRATCH, 'bench-'));
const rows: Row[] = [];
try {
  for (const [i, context] of args.contexts.entries()) {
    for (const chunkTokens of args.chunks) {
      process.stderr.write(`${context} tokens in chunks of ${chunkTokens}, after ${PREFIX}\n`);
      const prompt = await buildCase(model, {
        context,
        chunkTokens,
        questionTokens: args.questionTokens,
        dir,
        formats: args.formats,
      });
      await warmUp(model, prompt);
      rows.push(...(await measure(model, methods, prompt, args.runs[i] ?? 1)));
      disposeCase(prompt);
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
const decodeContexts = args.contexts.filter((context) => context <= DECODE_CONTEXT);
const decode =
  competitor && args.decode > 0 && decodeContexts.length > 0
    ? await measureDecode(model, competitor.llama, {
        context: Math.max(...decodeContexts),
        count: args.decode,
      })
    : undefined;
const bars = barsOf(rows, args.cpu);
printRows(rows);
if (decode) {
  const ratio = (decode.ours / decode.llama).toFixed(2);
  console.log(
    `decode at ${decode.context} tokens: ${decode.ours.toFixed(2)} tokens/s, llama.cpp ${decode.llama.toFixed(2)} (× ${ratio})`,
  );
}
printBars(bars);
for (const line of firstTokensOf(rows)) console.log(line);
// Peaks are the CPU's: they do not apply to layers on other devices.
const peaks = model.info.layerDevices.every((device) => device === 'CPU') ? measurePeaks(threads) : undefined;
if (peaks)
  for (const line of rooflineOf(
    rows.filter(({ method }) => ROOFLINE.test(method)),
    peaks,
  ))
    console.log(line);
const result = {
  machine: { ...host, loadAfter: loadavg()[0], stealPercent: stealPercent(ticks) },
  threads,
  devices: [...new Set(model.info.layerDevices)],
  model: basename(path),
  buffers: model.info.buffers,
  loadMs: model.info.loadMs,
  llama: competitor && {
    settings: { ...competitor.llama.settings, path: basename(path) },
    tried: competitor.tried,
  },
  commit: commit(),
  command: ['npm run bench:ttft --', ...process.argv.slice(2).map(quoted)].join(' '),
  date: new Date().toISOString(),
  questionTokens: args.questionTokens,
  peakRssMiB: {
    ours: peakRssMiB(),
    llama: (await competitor?.llama.close())?.peakRssMiB,
    witness: witness?.peakRssMiB(),
  },
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
writeFileSync(out.replace(/\.json$/, '.md'), `    ${result.command}\n\n${markdownOf(rows)}`);
const memory = Object.entries(result.peakRssMiB).flatMap(([who, mib]) =>
  mib === undefined ? [] : [`${who} ${mib} MiB`],
);
console.log(
  `${host.cpu}, ${host.cores} cores, ${threads} threads; peak RSS ${memory.join(', ')}; written to ${out}`,
);
model.dispose();
