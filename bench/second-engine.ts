/**
 * The second engine beside llama.cpp itself: time to first token, decoding, and a second turn, of models that only libllama runs.
 *
 *   npm run bench:second-engine -- [--models F.gguf,G.gguf | --architectures mamba,lfm2,qwen35,deepseek2,starcoder2]
 *                                  [--contexts 512,2048] [--question 32] [--decode 32] [--pairs 5] [--threads N]
 *                                  [--device cpu] [--out FILE.json]
 *
 * llama.cpp is libllama of the same release, called as its own programs call it (llama_decode over batches of 2,048 tokens, greedy
 * sampling), with nothing of ours around it, in a process of its own: what bench:ttft has for llama.cpp's full prefill, and no
 * program is shipped with the prebuilt library. Both have the same file, threads, device, micro-batches (512), KV in f16
 * and flash attention, which Kvasir leaves to libllama, and which it takes wherever a model allows. Every pair is one conversation by
 * each, one right after the other; ratios are taken within a pair, and their medians told. Times are of one process's wall clock: Kvasir's
 * include the way through JavaScript and back, and the states that it keeps to go back to. Token ids are random: the work does not
 * depend on them.
 */
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { middlingModel } from '../tools/random-model/other-models.ts';
import { OTHER_SHAPES, type OtherArchitecture } from '../tools/random-model/other-shapes.ts';
import { cpuTicks, machine, stealPercent } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { pairOf, roomFor, type Sizes } from './second-engine/conversations.ts';
import { barsOf, rowOf, type Pair, type Row } from './second-engine/rows.ts';
import { Llama } from './ttft/llama.ts';

const { values: args } = parseArgs({
  options: {
    models: { type: 'string' },
    architectures: { type: 'string', default: 'mamba,lfm2,qwen35,deepseek2,starcoder2' },
    contexts: { type: 'string', default: '512,2048' },
    question: { type: 'string', default: '32' },
    decode: { type: 'string', default: '32' },
    pairs: { type: 'string', default: '5' },
    threads: { type: 'string', default: '0' },
    device: { type: 'string', default: 'cpu' },
    out: { type: 'string', default: join('bench', 'results', 'second-engine.json') },
  },
});

const MICRO_BATCH = 512;
const MODELS = join(import.meta.dirname, '..', 'build', 'models');
const sizes = args.contexts.split(',').map((context): Sizes => ({
  context: Number(context),
  questionTokens: Number(args.question),
  decode: Number(args.decode),
}));
const files =
  args.models?.split(',') ??
  args.architectures.split(',').map((name) => middlingModel(architectureNamed(name), MODELS));

function architectureNamed(name: string): OtherArchitecture {
  if (name in OTHER_SHAPES) return name as OtherArchitecture;
  throw new TypeError(`--architectures must be of ${Object.keys(OTHER_SHAPES).join(', ')}`);
}

let threads = 0;

async function measure(path: string): Promise<Row[]> {
  const options = { threads: Number(args.threads), device: args.device };
  const model = await openWithPacks().loadModel(path, options);
  if (model.info.engine !== 'llama') throw new TypeError(`${path} is run by our own engine: see bench:ttft.`);
  threads = model.info.threads;
  const llama = await Llama.open({
    ...{ path, ...options, vocab: model.info.vocabSize },
    contextTokens: Math.max(...sizes.map(roomFor)),
    ...{ flashAttention: true, ubatch: MICRO_BATCH },
  });
  const rows: Row[] = [];
  for (const size of sizes) {
    await pairOf(model, llama, { ...size, decode: 2 }, 0); // Not counted: memory is touched for the first time.
    const pairs: Pair[] = [];
    for (let round = 0; round < Number(args.pairs); round++) {
      const pair = await pairOf(model, llama, size, round);
      pairs.push(pair);
      const told = [pair.ours, pair.llama].map(({ firstTokenMs, tokensPerSecond }) =>
        [`${firstTokenMs.toFixed(0)} ms`, `${tokensPerSecond.toFixed(1)}/s`].join(', '),
      );
      process.stderr.write(`  ${basename(path)} ${size.context}: ${told[0]}; llama.cpp ${told[1]}\n`);
    }
    const { context, questionTokens: newTokens } = size;
    rows.push(rowOf({ model: model.info.architecture, context, newTokens }, pairs));
  }
  await llama.close();
  model.dispose();
  return rows;
}

function print(rows: readonly Row[]): void {
  const table = new Table({
    head: ['model', 'context', 'TTFT ms', 'llama.cpp', '×', 'tokens/s', 'llama.cpp', '×', 'turn 2 ms', 'llama.cpp', 'computed', 'same token'], // prettier-ignore
    style: { head: [], border: [] },
  });
  for (const { model, context, medians, ratios, secondTurn, sameFirstToken } of rows) {
    const { ours, llama } = medians;
    table.push([
      ...[model, context],
      ...[ours.firstTokenMs.toFixed(0), llama.firstTokenMs.toFixed(0), ratios.firstToken.toFixed(3)],
      ...[ours.tokensPerSecond.toFixed(1), llama.tokensPerSecond.toFixed(1), ratios.decode.toFixed(3)],
      ...[ours.secondTurnMs.toFixed(0), llama.secondTurnMs.toFixed(0)],
      `${secondTurn.computedTokens} of ${secondTurn.newTokens}`,
      sameFirstToken ? 'yes' : 'no',
    ]);
  }
  console.log(table.toString());
}

const host = machine();
const ticks = cpuTicks();
const rows: Row[] = [];
for (const path of files) rows.push(...(await measure(path)));
const bars = rows.flatMap(barsOf);
print(rows);
for (const { what, bar, measured, met } of bars)
  if (!met) console.log(`missed: ${what} ${measured.toFixed(3)}, wanted ${bar}`);
console.log(`${bars.filter(({ met }) => met).length} of ${bars.length} bars met`);
writeResult('second-engine', args.out, {
  machine: { ...host, stealPercent: stealPercent(ticks) },
  models: files.map((path) => basename(path)),
  settings: { threads, device: args.device, microBatch: MICRO_BATCH, flashAttention: true },
  bars,
  rows,
});
