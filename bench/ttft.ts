/**
 * Time to first token by method, in one run on one machine: llama.cpp's own full prefill (libllama, its defaults) beside
 * our full prefill, full reuse and blending, with the chunks in RAM and on disk.
 *
 *   npm run bench:ttft -- [--model F.gguf | --shape 0.6b --type q8_0] [--contexts 1024,2048,4096] [--chunk 512]
 *                         [--question 32] [--runs 3] [--threads N] [--out FILE.json]
 *
 * Runs are interleaved (one of each method, then the next round), and ratios are taken to llama.cpp's run of the same
 * round, so that a machine that slows down slows all of them. Token ids are random: the work does not depend on them.
 */
import { mkdirSync, mkdtempSync, openSync, closeSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import {
  Engine,
  type ChunkKv,
  type Model,
  type Reference,
  type Segment,
  type Strategy,
} from '../src-main/engine/engine.ts';
import { commit, machine, median, peakRssMiB, stealTicks } from './lib/machine.ts';
import { shapedModel } from '../tools/random-model/random-model.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    shape: { type: 'string', default: '0.6b' },
    type: { type: 'string', default: 'q8_0' },
    contexts: { type: 'string', default: '1024,2048,4096' },
    chunk: { type: 'string', default: '512' },
    question: { type: 'string', default: '32' },
    runs: { type: 'string', default: '3' },
    decode: { type: 'string', default: '32' },
    threads: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});

interface Method {
  name: string;
  run: (prompt: Prompt) => Promise<number>;
}

interface Prompt {
  ids: Int32Array;
  ram: Segment[];
  disk: Segment[];
}

interface Row {
  context: number;
  method: string;
  ms: number[];
  medianMs: number;
  /** Median over rounds of this method's time divided by llama.cpp's in the same round. */
  ratio: number;
  recomputed?: number | undefined;
}

/** Lets the pools of the method before go to sleep: two pools that spin on the same cores slow each other. */
const SETTLE_MS = 700;

const contexts = args.contexts.split(',').map(Number);
const chunkTokens = Number(args.chunk);
const questionTokens = Number(args.question);
const runs = Number(args.runs);
const maxContext = Math.max(...contexts) + questionTokens + 256;
const path = args.model ?? shapedModel(args.shape, args.type, 32768);

function randomIds(n: number, vocab: number): Int32Array {
  let state = 12345;
  return Int32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return 3 + (state % (vocab - 3));
  });
}

/** Context of whole chunks behind one prefix token, then the question. */
async function buildPrompt(model: Model, context: number, dir: string): Promise<Prompt> {
  const count = Math.max(1, Math.round(context / chunkTokens));
  const ids = randomIds(1 + count * chunkTokens + questionTokens, model.info.vocabSize);
  const ram: ChunkKv[] = [];
  const disk: ChunkKv[] = [];
  for (let i = 0; i < count; i++) {
    const chunk = await model.encodeChunk(ids.slice(1 + i * chunkTokens, 1 + (i + 1) * chunkTokens), 'f16');
    const file = join(dir, `${context}-${i}.kvc`);
    await chunk.save(file);
    ram.push(chunk);
    disk.push(await model.openChunk(file));
    process.stderr.write(`\r  encoding ${i + 1}/${count} chunks of ${chunkTokens} tokens `);
  }
  process.stderr.write('\n');
  const wrap = (chunks: ChunkKv[]): Segment[] => [
    { kind: 'compute', tokens: ids.slice(0, 1) },
    ...chunks.map((chunk): Segment => ({ kind: 'chunk', chunk })),
    { kind: 'compute', tokens: ids.slice(1 + count * chunkTokens) },
  ];
  return { ids, ram: wrap(ram), disk: wrap(disk) };
}

function methods(model: Model, reference: Reference, recomputed: Map<string, number>): Method[] {
  const ours = (name: string, source: 'ram' | 'disk', strategy: Strategy): Method => ({
    name,
    run: async (prompt) => {
      const session = model.createSession(prompt.ids.length + 64);
      const warm = await model.encodeChunk(prompt.ids.slice(0, 1), 'f16'); // the session's memory is ready behind it
      warm.dispose();
      const start = performance.now();
      const report = await session.append(prompt[source], strategy);
      const ms = performance.now() - start;
      recomputed.set(name, report.recomputedTokens);
      session.dispose();
      return ms;
    },
  });
  const deviation = (ratio: number): Strategy => ({ kind: 'deviation', checkLayers: [1], ratios: [ratio] });
  return [
    {
      name: 'llama.cpp full prefill',
      run: async (prompt) => {
        reference.truncate(0);
        return (await reference.prefill(prompt.ids)).ms;
      },
    },
    ours('full prefill', 'ram', { kind: 'full' }),
    ours('none, RAM', 'ram', { kind: 'none' }),
    ours('none, disk', 'disk', { kind: 'none' }),
    ...[0.05, 0.15, 0.3].flatMap((r) => [
      ours(`deviation ${r * 100} %, RAM`, 'ram', deviation(r)),
      ours(`deviation ${r * 100} %, disk`, 'disk', deviation(r)),
    ]),
  ];
}

async function measure(model: Model, reference: Reference, context: number, dir: string): Promise<Row[]> {
  process.stderr.write(`context ${context}\n`);
  const prompt = await buildPrompt(model, context, dir);
  const recomputed = new Map<string, number>();
  const list = methods(model, reference, recomputed);
  const times = new Map<string, number[]>(list.map((m) => [m.name, []]));
  for (let round = 0; round < runs; round++) {
    for (const method of list) {
      await sleep(SETTLE_MS);
      const ms = await method.run(prompt);
      times.get(method.name)?.push(ms);
      process.stderr.write(`  round ${round + 1}/${runs} ${method.name}: ${(ms / 1000).toFixed(2)} s\n`);
    }
  }
  const base = times.get('llama.cpp full prefill') ?? [];
  const rows = list.map(({ name }): Row => {
    const ms = times.get(name) ?? [];
    const ratio = median(ms.map((value, i) => value / (base[i] ?? NaN)));
    return { context, method: name, ms, medianMs: median(ms), ratio, recomputed: recomputed.get(name) };
  });
  for (const segment of [...prompt.ram, ...prompt.disk])
    if (segment.kind === 'chunk') segment.chunk.dispose();
  return rows;
}

/** Greedy decode behind the longest context, tokens per second. */
async function measureDecode(
  model: Model,
  reference: Reference,
  context: number,
): Promise<{ ours: number; llama: number }> {
  const count = Number(args.decode);
  const ids = randomIds(context, model.info.vocabSize);
  const session = model.createSession(context + count + 8);
  await session.append([{ kind: 'compute', tokens: ids }], { kind: 'full' });
  reference.truncate(0);
  await reference.prefill(ids);
  const ours: number[] = [];
  const llama: number[] = [];
  for (let i = 0; i < 3; i++) {
    await sleep(SETTLE_MS);
    session.truncate(context);
    const g = await session.generate({ maxTokens: count });
    ours.push((g.tokens.length * 1000) / g.ms);
    await sleep(SETTLE_MS);
    reference.truncate(context);
    llama.push((count * 1000) / (await reference.decode(count)).ms);
  }
  session.dispose();
  return { ours: median(ours), llama: median(llama) };
}

function print(rows: Row[]): void {
  for (const context of contexts) {
    const table = new Table({
      head: [`${context} tokens`, 'median s', '× llama.cpp', 'recomputed'],
      style: { head: [], border: [] },
      colAligns: ['left', 'right', 'right', 'right'],
    });
    for (const row of rows.filter((r) => r.context === context)) {
      table.push([
        row.method,
        (row.medianMs / 1000).toFixed(2),
        row.ratio.toFixed(3),
        String(row.recomputed ?? ''),
      ]);
    }
    console.log(table.toString());
  }
}

const host = machine();
const steal = stealTicks();
const engine = Engine.open();
const model = await engine.loadModel(path, { threads: Number(args.threads) });
const reference = await engine.loadReference(path, {
  contextTokens: maxContext,
  threads: model.info.threads,
  flashAttention: true,
  ubatch: 512,
});
const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
try {
  const rows: Row[] = [];
  for (const context of contexts) rows.push(...(await measure(model, reference, context, dir)));
  const decode = await measureDecode(model, reference, Math.max(...contexts));
  print(rows);
  console.log(
    `decode at ${Math.max(...contexts)} tokens: ${decode.ours.toFixed(2)} tokens/s, llama.cpp ${decode.llama.toFixed(2)} (× ${(decode.ours / decode.llama).toFixed(2)})`,
  );
  const result = {
    machine: host,
    stealTicks: stealTicks() - steal,
    threads: model.info.threads,
    model: basename(path),
    buffers: model.info.buffers,
    versions: engine.version(),
    commit: commit(),
    command: `npm run bench:ttft -- ${process.argv.slice(2).join(' ')}`,
    date: new Date().toISOString(),
    chunkTokens,
    questionTokens,
    peakRssMiB: peakRssMiB(),
    decode,
    rows,
  };
  const out =
    args.out ??
    join('bench', 'results', `ttft-${basename(path, '.gguf').slice(0, 40)}-${result.commit}.json`);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(result, null, 2)}\n`);
  const handle = openSync(out, 'r');
  fsyncSync(handle);
  closeSync(handle);
  console.log(
    `${host.cpu}, ${host.cores} cores, ${model.info.threads} threads; peak RSS ${result.peakRssMiB} MiB; written to ${out}`,
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
reference.dispose();
model.dispose();
