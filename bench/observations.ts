/**
 * Measures the observations behind CacheBlend in one model over many prompts: how far a prompt of reused passages is from the full prefill,
 * in which tokens, in which layers (the paper's figures 4, 6, 7 and 8, and sparsity by layer).
 *
 *   npm run bench:observations -- [--model FILE.gguf] [--set worlds|FILE] [--prompts FILE.json] [--n 200] [--threads N]
 *                                 [--out FILE.json]
 *
 * Sets are those of bench:quality. Writes FILE-*.svg next to FILE.json. docs/quality.md has the findings.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Engine } from '../src-main/engine/engine.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { writeResult } from './lib/result.ts';
import { observe, type Observations } from './observations/observe.ts';
import { pictures } from './observations/pictures.ts';
import { scoreByPassages } from './observations/passages.ts';
import { loadSet } from './quality/sets.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    set: { type: 'string', default: 'worlds' },
    prompts: { type: 'string' },
    n: { type: 'string', default: '200' },
    threads: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});

const all = loadSet(args.set, args.prompts);
const set = { ...all, questions: all.questions.slice(0, Number(args.n)) };
const path = args.model ?? resolvePaths().demoModel;
const model = await Engine.open().loadModel(path, { threads: Number(args.threads) });
const observed: Observations = await observe(model, set.questions);
const passages = await scoreByPassages(model, set);

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const layers = new Table({
  head: ['layer', 'tokens that hold 90 % of the deviation', 'rank correlation with the layer before'],
  style: { head: [], border: [], compact: true },
});
for (const [layer, { mean }] of observed.holders.entries())
  layers.push([
    layer,
    percent(mean),
    layer === 0 ? '' : (observed.correlation[layer - 1]?.mean ?? 0).toFixed(2),
  ]);
console.log(layers.toString());
const ratios = new Table({
  head: ['recomputed', 'attention deviation'],
  style: { head: [], border: [], compact: true },
});
for (const { ratio, deviation } of observed.attention)
  ratios.push([percent(ratio), deviation.mean.toFixed(3)]);
console.log(ratios.toString());

if (args.out !== undefined)
  for (const [name, svg] of pictures(observed, passages, set.scores[0] ?? 'f1'))
    writeFileSync(args.out.replace(/\.json$/, `-${name}.svg`), svg);
writeResult('observations', args.out, {
  ...{
    model: basename(path),
    fingerprint: model.info.fingerprint,
    set: set.name,
    questions: set.questions.length,
  },
  ...{ observed, passages },
});
