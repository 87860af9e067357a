/**
 * Measures answer quality and time to first token by prompt method: full prefill (also with a KV cache in q8_0), prefix caching, full
 * reuse, and every strategy next to the same number of random tokens.
 *
 *   npm run bench:quality -- [--model FILE.gguf] [--set worlds|FILE] [--prompts FILE.json] [--n 200] [--ratios 0.15]
 *                            [--only REGEXP] [--passages 24] [--chunks TOKENS] [--order given|shuffled] [--dtype f16|q8_0]
 *                            [--lead headings|none|TOKENS|TEXT] [--selection] [--threads N] [--device cpu] [--shots N]
 *                            [--matrix [--runs REGEXP]] [--out FILE.json [--resume] [--part I/N]]
 *
 * Sets: 'worlds' (ours: held-out worlds like those the demo model was trained on), 'library' (the sample library, with the passages that
 * the app retrieves), or a file in CacheBlend's, LongBench's or RULER's format; --prompts is LongBench's own file of prompts by data set.
 * --matrix varies ratios, numbers and lengths of passages, order and number formats (CacheBlend's figures 12 to 16), and draws FILE-*.svg.
 * Each question is written to FILE.json.tmp once it was asked; --resume continues from there. --part 2/4 asks every fourth question from
 * the second on and leaves its records there: concatenate the files of all parts, and --resume makes their table.
 * --shots puts N questions and answers of the set before each question, for base models. Answers are greedy. All sampling (passages, order,
 * random tokens, intervals) uses fixed seeds: two runs differ in times only. docs/quality.md explains the results.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { KvDtype, Model } from '../src-main/engine/engine.ts';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { resolvePaths } from '../src-main/platform/paths.ts';
import type { Calibration } from '../src-shared/contract/calibration.ts';
import type { SessionDtype } from '../src-shared/kv-dtype.ts';
import { commit } from './lib/machine.ts';
import { Progress } from './lib/progress.ts';
import { writeResult } from './lib/result.ts';
import { calibrationOn } from './quality/calibration.ts';
import { matrix, type MatrixOptions } from './quality/matrix.ts';
import { measure } from './quality/measure.ts';
import { fullIn8Bits, label, methodsFor } from './quality/methods.ts';
import type { Lead } from './quality/prompt.ts';
import { pictures } from './quality/pictures.ts';
import { selections } from './quality/selection.ts';
import { Records } from './quality/records.ts';
import { rowsOf, type Row } from './quality/rows.ts';
import { librarySet, loadSet, withShots } from './quality/sets.ts';
import type { QuestionSet } from './quality/question.ts';
import { table } from './quality/table.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    set: { type: 'string', default: 'worlds' },
    prompts: { type: 'string' },
    n: { type: 'string', default: '200' },
    ratios: { type: 'string', default: '0.15' },
    only: { type: 'string' },
    passages: { type: 'string' },
    chunks: { type: 'string', default: '0' },
    order: { type: 'string', default: 'given' },
    dtype: { type: 'string', default: 'f16' },
    lead: { type: 'string', default: 'headings' },
    selection: { type: 'boolean', default: false },
    threads: { type: 'string', default: '0' },
    device: { type: 'string', default: 'cpu' },
    shots: { type: 'string', default: '0' },
    resume: { type: 'boolean', default: false },
    part: { type: 'string', default: '1/1' },
    matrix: { type: 'boolean', default: false },
    runs: { type: 'string', default: '' },
    out: { type: 'string' },
  },
});

const path = args.model ?? resolvePaths().demoModel;
const loaded = args.set === 'library' ? await fromLibrary() : loadSet(args.set, args.prompts);
const all = withShots(loaded, Number(args.shots));
const set = { ...all, questions: all.questions.slice(0, Number(args.n)) };
const others = all.questions.slice(Number(args.n));
const { device } = args;
const load = (kvDtype: SessionDtype): Promise<Model> =>
  openWithPacks().loadModel(path, { threads: Number(args.threads), device, kvDtype });
const model = await load('f16');
let rounded: Promise<Model> | undefined;
const in8Bits = fullIn8Bits(() => (rounded ??= load('q8_0')));
const about = {
  model: basename(path),
  fingerprint: model.info.fingerprint,
  set: set.name,
  questions: set.questions.length,
};

/** Starts the whole app, which no other set needs. */
async function fromLibrary(): Promise<QuestionSet> {
  const { withRetriever } = await import('./quality/retriever.ts');
  return withRetriever(path, librarySet);
}

/**
 * Text before which passages are encoded: the headings above, nothing, the end of the previous passage (FusionRAG), or a text (CacheClip).
 */
function leadOf(lead: string): Lead {
  if (lead === 'headings' || lead === 'none') return lead;
  return /^\d+$/.test(lead) ? { neighbour: Number(lead) } : { text: lead };
}

const [part = 1, parts = 1] = args.part.split('/').map(Number);
if (!(part >= 1 && part <= parts)) throw new TypeError('--part must be I/N, with I from 1 to N');
const mine = (index: number): boolean => index % parts === part - 1;

const calibrations = new Map<string, Calibration | undefined>();

/** The app's own calibration, on questions that are not asked. */
async function calibrationFor(dtype: KvDtype, lead: Lead): Promise<Calibration | undefined> {
  const key = JSON.stringify([dtype, lead]);
  if (!calibrations.has(key)) {
    const calibration = await calibrationOn(model, others, dtype, lead);
    calibrations.set(key, calibration);
    console.log(
      calibration ? `auto: ${JSON.stringify(calibration.choice)}` : 'auto: no questions left for calibration',
    );
  }
  return calibrations.get(key);
}

/** Excludes the number of questions, so that records stay valid when it grows. */
const measuredOn = { model: about.model, fingerprint: about.fingerprint, set: about.set };
const records = new Records(args.out, { ...measuredOn, commit: commit(), shots: args.shots }, args.resume);

async function measured({ ratios, only, ...setting }: MatrixOptions): Promise<Row[]> {
  const wanted = new RegExp(only);
  const calibration =
    !args.selection && wanted.test('auto') ? await calibrationFor(setting.dtype, setting.lead) : undefined;
  const ways = args.selection ? selections(ratios) : [...methodsFor(ratios, calibration), in8Bits];
  const methods = ways.filter((method) => method.name === 'full' || wanted.test(label(method)));
  const run = JSON.stringify({ ...setting, auto: calibration?.choice });
  const known = records.of(run);
  if (known.length > 0) console.log(`Resuming after ${known.length} of ${set.questions.length} questions.`);
  const left = set.questions.filter((_, index) => mine(index)).length - known.length;
  const progress = new Progress(Math.max(0, left));
  const asked = await measure(
    model,
    set,
    { ...setting, methods },
    {
      mine,
      known,
      onAsked: (one) => {
        records.add(run, one);
        progress.step();
      },
    },
  );
  const rows = rowsOf(asked, methods, set.scores);
  console.log(`\n${basename(path)}, ${set.name}: ${set.questions.length} questions in ${progress.seconds} s`);
  console.log(table(rows, set.scores));
  return rows;
}

if (args.matrix) {
  const runs: Record<string, Row[]> = {};
  const wanted = new RegExp(args.runs);
  for (const [name, asked] of matrix().filter(([name]) => wanted.test(name))) {
    console.log(`\n${name}`);
    runs[name] = await measured({ ...asked, only: args.only ?? asked.only });
    writeResult('quality', args.out, { ...about, runs });
  }
  for (const [name, svg] of pictures(runs, set.scores[0] ?? 'f1')) {
    if (args.out !== undefined) writeFileSync(args.out.replace(/\.json$/, `-${name}.svg`), svg);
  }
} else {
  const setting: MatrixOptions = {
    ratios: args.ratios.split(',').map(Number),
    only: args.only ?? '',
    dtype: args.dtype as KvDtype,
    lead: leadOf(args.lead),
    chunkTokens: Number(args.chunks),
    passages: args.passages === undefined ? undefined : Number(args.passages),
    shuffled: args.order === 'shuffled',
  };
  const rows = await measured(setting);
  const auto = [...calibrations.values()][0]?.choice ?? null;
  if (parts === 1) writeResult('quality', args.out, { ...about, setting, auto, rows });
}
if (parts === 1) records.end();
