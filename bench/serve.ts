/**
 * Measures serving under increasing load: time to first token and decode speed by prompt method: full prefill, prefix caching, blending.
 *
 *   npm run bench:serve -- [--model F.gguf | --shape 0.6b --type q8_0] [--context 4096] [--chunk 512] [--library 24]
 *                          [--question 32] [--answer 16] [--requests 12] [--loads 0.3,0.6,0.9] [--clients 1,2,4,8,16,32]
 *                          [--only REGEXP] [--together 8] [--seconds 0] [--memory 0] [--llama-server]
 *                          [--threads N] [--out FILE.json]
 *
 * Every request places chunks of a library, drawn by popularity and in random order, then a question. --loads are open loops: requests
 * arrive at random (Poisson) at this multiple of the rate that the method sustains one at a time. --clients are closed loops: each client
 * asks again as soon as it is answered, and at least once. --together is the number of short questions decoded concurrently, compared with
 * one at a time; a short question is also asked while a long prompt is computed.
 * Token ids are random: the work does not depend on them. All sampling uses fixed seeds, the same for every method. --requests is the
 * minimum number per run; with --seconds, open loops run for that long, so that fast methods get more requests. --memory adds blending from
 * disk with a memory tier for this share of the library, behind the app's gate: in call order, and by shared chunks. --llama-server adds
 * llama.cpp's server as a peer: it is built from source the first time.
 */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { Engine } from '../src-main/engine/engine.ts';
import { writeResult } from './lib/result.ts';
import { MODEL_FLAGS, modelFile } from './lib/model-flags.ts';
import { alone, closedLoop, openLoop, type ServedRequest } from './serve/load.ts';
import { provideLlamaServer } from './serve/llama-build.ts';
import { diskMethods, type DiskHits } from './serve/disk-methods.ts';
import { llamaServer } from './serve/llama-server.ts';
import { methodsOf, promptTokens, type ServeMethod } from './serve/methods.ts';
import { printServed, summary, type ServedRow } from './serve/summary.ts';
import { measureTogether } from './serve/concurrency.ts';
import { buildLibrary, drawRequests } from './serve/workload.ts';

const { values: args } = parseArgs({
  options: {
    ...MODEL_FLAGS,
    context: { type: 'string', default: '4096' },
    chunk: { type: 'string', default: '512' },
    library: { type: 'string', default: '24' },
    question: { type: 'string', default: '32' },
    answer: { type: 'string', default: '16' },
    requests: { type: 'string', default: '12' },
    loads: { type: 'string', default: '0.3,0.6,0.9' },
    clients: { type: 'string', default: '1,2,4,8,16,32' },
    only: { type: 'string', default: '' },
    together: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '0' },
    memory: { type: 'string', default: '0' },
    'llama-server': { type: 'boolean', default: false },
  },
});
const numbers = (list: string): number[] => list.split(',').filter(Boolean).map(Number);

/** Maximum concurrent answers, as in the app. */
const AT_ONCE = 8;
/** Resident KV: enough for all concurrent requests. */
const KV_BYTES = 8 * 2 ** 30;
/** Goodput counts answers that begin within this multiple of the idle TTFT. */
const LIMIT = 2;

const path = modelFile(args);
const model = await Engine.open().loadModel(path, { threads: Number(args.threads) });
model.setKvBudget(KV_BYTES);
const shape = {
  context: Number(args.context),
  chunkTokens: Number(args.chunk),
  questionTokens: Number(args.question),
  answerTokens: Number(args.answer),
};

const together =
  Number(args.together) > 0 ? await measureTogether(model, Number(args.together), shape) : undefined;
if (together) {
  const { atOnce, alone: one, ratio, shortAlone, shortBeside, shortRatio } = together;
  console.log(
    `${args.together} concurrent: ${atOnce.toFixed(1)} tokens/s, one at a time ${one.toFixed(1)} (× ${ratio.toFixed(2)})`,
  );
  console.log(
    `a short question: ${shortAlone.toFixed(0)} ms alone, p95 ${shortBeside.toFixed(0)} ms during a prompt of ${shape.context} tokens (× ${shortRatio.toFixed(2)})`,
  );
}

const library = await buildLibrary(model, Number(args.library), shape.chunkTokens);
const ours = methodsOf(model, library, { shape, kvBytes: KV_BYTES });
const peers = args['llama-server'] ? [await peer()] : [];
const hits: DiskHits[] = [];
const share = Number(args.memory);
const onDisk =
  share > 0
    ? await diskMethods(model, library, { shape, share, kvBytes: KV_BYTES, atOnce: AT_ONCE }, (each) =>
        hits.push(each),
      )
    : [];
const methods = [...peers, ...ours, ...onDisk].filter(({ name }) => new RegExp(args.only).test(name));
const rows: ServedRow[] = [];

async function run(
  method: ServeMethod,
  load: string,
  rate: number | null,
  idle: number,
  work: () => Promise<ServedRequest[]>,
) {
  process.stderr.write(`${method.name}, ${load}\n`);
  await method.forget();
  const served = await work();
  rows.push(summary(served, { method: method.name, load, rate, idle, limit: LIMIT * idle }));
}

async function peer(): Promise<ServeMethod> {
  const { vocabSize, threads } = model.info;
  return llamaServer({
    ...{ binary: await provideLlamaServer(console.log), model: path, threads, slots: AT_ONCE },
    slotTokens: 64 * Math.ceil((1 + shape.context + shape.questionTokens + shape.answerTokens) / 64),
    tokensOf: (request) => promptTokens(request, library, shape, vocabSize),
  });
}

for (const method of methods) {
  const drawn = drawRequests(library.length, shape, Number(args.requests));
  const idle = await alone(method, drawn.slice(0, 3));
  const capacity = 1000 / idle.totalMs;
  for (const load of numbers(args.loads)) {
    const rate = load * capacity;
    const count = Math.max(Number(args.requests), Math.ceil(rate * Number(args.seconds)));
    const timed = drawRequests(library.length, shape, count, rate);
    await run(method, `load ${load}`, rate, idle.ttftMs, () => openLoop(method, timed, AT_ONCE));
  }
  for (const clients of numbers(args.clients)) {
    const asked = drawRequests(library.length, shape, Math.max(Number(args.requests), clients));
    await run(method, `${clients} clients`, null, idle.ttftMs, () => closedLoop(method, asked, clients));
  }
  await method.close?.();
}
printServed(rows);
for (const { method, memory, disk, ahead } of hits)
  console.log(
    `${method}: ${memory} of ${memory + disk} chunks in memory, ${ahead} of them loaded while a request waited`,
  );
writeResult('serve', args.out, {
  model: basename(path),
  threads: model.info.threads,
  ...shape,
  limit: LIMIT,
  together,
  hits,
  rows,
});
model.dispose();
