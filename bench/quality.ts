/**
 * How good answers are, and how soon they begin, by the way their prompt is made: full prefill, prefix caching, full reuse, and
 * every strategy beside random tokens of the same number.
 *
 *   npm run bench:quality -- [--model FILE.gguf] [--set worlds|FILE] [--prompts FILE.json] [--n 200] [--ratios 0.15]
 *                            [--only REGEXP] [--passages 24] [--chunks TOKENS] [--order given|shuffled] [--dtype f16|q8_0]
 *                            [--threads N] [--out FILE.json]
 *
 * Sets: 'worlds' (ours: held-out worlds of the demo model's kind), or a file in CacheBlend's, LongBench's or RULER's form;
 * --prompts is LongBench's own file of prompts by data set. Answers are greedy. Whatever is drawn (passages, order, random
 * tokens, intervals) is drawn from fixed seeds: two runs differ in times only. docs/quality.md tells how to read it.
 */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { Engine, type KvDtype } from '../src-main/engine/engine.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { writeResult } from './lib/result.ts';
import { measure } from './quality/measure.ts';
import { label, methodsFor } from './quality/methods.ts';
import { loadSet } from './quality/sets.ts';
import { table } from './quality/table.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    set: { type: 'string', default: 'worlds' },
    prompts: { type: 'string' },
    n: { type: 'string', default: '200' },
    ratios: { type: 'string', default: '0.15' },
    only: { type: 'string', default: '' },
    passages: { type: 'string' },
    chunks: { type: 'string', default: '0' },
    order: { type: 'string', default: 'given' },
    dtype: { type: 'string', default: 'f16' },
    threads: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});

const all = loadSet(args.set, args.prompts);
const set = { ...all, questions: all.questions.slice(0, Number(args.n)) };
const wanted = new RegExp(args.only);
const methods = methodsFor(args.ratios.split(',').map(Number)).filter(
  (method) => method.name === 'full' || wanted.test(label(method)),
);
const path = args.model ?? resolvePaths().demoModel;
const model = await Engine.open().loadModel(path, { threads: Number(args.threads) });
const setting = {
  methods,
  dtype: args.dtype as KvDtype,
  chunkTokens: Number(args.chunks),
  passages: args.passages === undefined ? undefined : Number(args.passages),
  shuffled: args.order === 'shuffled',
};
const started = performance.now();
const rows = await measure(model, set, setting, (done) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${set.questions.length} questions`);
});
const seconds = (performance.now() - started) / 1000;
console.log(`\n${basename(path)}, ${set.name}: ${set.questions.length} questions in ${seconds.toFixed(0)} s`);
console.log(table(rows, set.scores));
writeResult('quality', args.out, {
  model: basename(path),
  fingerprint: model.info.fingerprint,
  set: set.name,
  questions: set.questions.length,
  ...{ ...setting, methods: undefined },
  rows,
});
