/**
 * The steady state of a cache that holds a fifth of its library: novel questions in a row, answered with Kvasir's
 * eviction policy, LRU, prefix caching and a full prefill. Hit rate in tokens, time to the first token ÷ full prefill's,
 * and bytes held and written, over the last questions before each mark.
 *
 *   npm run bench:steady -- [--simulate] [--model F.gguf | --shape 0.6b --type q8_0] [--library FOLDER]
 *                           [--documents 60] [--characters 6000] [--chunk 256] [--top 6] [--share 0.2]
 *                           [--dtype f16] [--questions 300] [--marks 50,100,200,300] [--seeds 1] [--threads N]
 *                           [--out FILE.json]
 *
 * Questions repeat as in a public trace of a chat service ("KVCache in the wild", ATC '25): questions.ts has the
 * figures. Their passages come from Kvasir's retrieval in --library, or in generated documents, of which random models
 * make a token per character. Before the first question the library is computed ahead, as far as it fits. Times between
 * questions are the trace's, not the machine's: the store's clock follows them.
 *
 * --dtype is the format of the stores of the first two; the budget is a fifth of the library in f16 in every case.
 *
 * --simulate predicts times by the cost model, which a few short prompts train first, and adds a table of the policy
 * without each of its terms; store, index and eviction are the app's. With --out, a plot (.svg) goes beside the JSON.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { readLibrary } from '../e2e/support/library.ts';
import { App } from '../src-main/app.ts';
import { Engine, type KvDtype, type Model } from '../src-main/engine/engine.ts';
import { CostModel } from '../src-main/fusion/planning/cost-model.ts';
import { profile } from '../src-main/fusion/planning/profile.ts';
import { choosePassages, fullTextRanking, MATCHES_PER_CHUNK } from '../src-main/retrieval/retriever.ts';
import { SearchIndex } from '../src-main/retrieval/search-index.ts';
import { chart } from './lib/chart.ts';
import { Progress } from './lib/progress.ts';
import { writeResult } from './lib/result.ts';
import { MODEL_FLAGS, modelFile } from './lib/model-flags.ts';
import { ABLATIONS } from './steady/ablations.ts';
import { MeasuredAnswerer, PredictedAnswerer, type Answerer } from './steady/answerers.ts';
import { writeLibrary } from './steady/library.ts';
import {
  fullPrefill,
  prefixCaching,
  storeMethod,
  type Method,
  type StoreMethodOptions,
} from './steady/methods.ts';
import { drawQuestions, type Retrieval, type SteadyChunk } from './steady/questions.ts';
import { steadyRows, type Run, type SteadyRow } from './steady/summary.ts';

const { values: args } = parseArgs({
  options: {
    ...MODEL_FLAGS,
    simulate: { type: 'boolean', default: false },
    library: { type: 'string' },
    documents: { type: 'string', default: '60' },
    characters: { type: 'string', default: '6000' },
    chunk: { type: 'string', default: '256' },
    top: { type: 'string', default: '6' },
    share: { type: 'string', default: '0.2' },
    dtype: { type: 'string', default: 'f16' },
    questions: { type: 'string', default: '300' },
    marks: { type: 'string', default: '50,100,200,300' },
    seeds: { type: 'string', default: '1' },
  },
});
const [topK, count] = [Number(args.top), Number(args.questions)];
const [marks, seeds] = [args.marks, args.seeds].map((list) => list.split(',').map(Number)) as [
  number[],
  number[],
];

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const path = modelFile(args);
const app = await App.open({
  dataDir: join(dir, 'data'),
  overrides: { chunkTokens: Number(args.chunk), contextTokens: 32_768, threads: Number(args.threads) },
});
try {
  if (args.library === undefined)
    writeLibrary(join(dir, 'library'), {
      documents: Number(args.documents),
      characters: Number(args.characters),
      seed: 1,
    });
  const { model, chunkSetId } = await readLibrary(app, {
    path: args.library ?? join(dir, 'library'),
    model: path,
    precompute: false,
  });
  const chunks = [...app.catalogue.chunks(chunkSetId)];
  const answerers = await answerersOf(model);
  const bytes = chunks.reduce((sum, chunk) => sum + answerers.exact.bytesOf(chunk), 0);
  const runs: Run[] = [];
  for (const seed of seeds)
    runs.push(...(await run(answerers, chunks, { seed, chunkSetId, budget: bytes * Number(args.share) })));
  report(steadyRows(runs, marks), { model, chunks: chunks.length, libraryBytes: bytes });
} finally {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
}

/** With chunks in f16, and in the stores' format. */
type Answerers = Record<'exact' | 'stored', Answerer>;

/** The cost model learns from a few short prompts, as when the app first loads a model. */
async function answerersOf(model: Model): Promise<Answerers> {
  const costs = new CostModel(join(dir, 'costs.json'));
  const dtype = args.dtype as KvDtype;
  await profile({ model, costs, dtype, dir, step: (work) => work({}) });
  const answererIn = (format: KvDtype): Answerer =>
    args.simulate
      ? new PredictedAnswerer(model, costs, format)
      : new MeasuredAnswerer(Engine.open(), model, costs, format);
  return { exact: answererIn('f16'), stored: answererIn(dtype) };
}

/** Asks every method each question in turn, so that all see the same machine. */
async function run(
  answerers: Answerers,
  chunks: readonly SteadyChunk[],
  { seed, budget, chunkSetId }: Record<'seed' | 'budget' | 'chunkSetId', number>,
): Promise<Run[]> {
  const questions = drawQuestions(chunks, finderOf(chunks, chunkSetId), { count, seed });
  const methods = await methodsOf(answerers, chunks, budget, seed);
  const runs = methods.map(({ name }): Run => ({ name, answers: [] }));
  const progress = new Progress(questions.length);
  for (const question of questions) {
    for (const [i, method] of methods.entries()) runs[i]?.answers.push(await method.answer(question));
    progress.step();
  }
  for (const method of methods) await method.close?.();
  return runs;
}

function finderOf(
  chunks: readonly SteadyChunk[],
  chunkSetId: number,
): (question: string) => Retrieval<SteadyChunk> {
  const index = new SearchIndex(app.catalogue.words, chunkSetId);
  const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
  const known = (ids: readonly number[]): SteadyChunk[] => ids.flatMap((id) => byId.get(id) ?? []);
  return (question) => {
    const ranking = fullTextRanking(index, question, topK * MATCHES_PER_CHUNK);
    const passages = choosePassages(index, question, ranking, topK).map(({ chunkId }) => chunkId);
    const below = ranking.matches.map(({ chunkId }) => chunkId).filter((id) => !passages.includes(id));
    return { passages: known(passages), below: known(below.slice(0, topK)) };
  };
}

async function methodsOf(
  { exact, stored }: Answerers,
  chunks: readonly SteadyChunk[],
  budget: number,
  seed: number,
): Promise<Method[]> {
  const openings = chunks.filter((chunk, i) => chunk.documentId !== chunks[i - 1]?.documentId);
  const ours: Omit<StoreMethodOptions, 'name' | 'dir'> = {
    ...{ answerer: stored, budget, policy: 'workload-aware', places: true },
    ahead: [...new Set([...openings, ...chunks])],
  };
  const variants: Record<string, Partial<StoreMethodOptions>> = {
    ours: {},
    LRU: { policy: 'lru' },
    ...(args.simulate && {
      ...Object.fromEntries(
        Object.entries(ABLATIONS).map(([name, Workload]) => [
          name,
          { makeWorkload: (about: ConstructorParameters<typeof Workload>[0]) => new Workload(about) },
        ]),
      ),
      'without places': { places: false },
      'without computing ahead': { ahead: [], places: false },
      'ideal (nothing evicted)': { budget: Infinity, ahead: [], places: false },
    }),
  };
  const stores = [];
  for (const [i, [name, variant]] of Object.entries(variants).entries())
    stores.push(await storeMethod({ ...ours, ...variant, name, dir: join(dir, `store-${seed}-${i}`) }));
  return [...stores, prefixCaching(exact, budget), fullPrefill(exact)];
}

function report(
  rows: readonly SteadyRow[],
  { model, ...about }: { model: Model; chunks: number; libraryBytes: number },
): void {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  const table = new Table({
    head: [
      'method',
      'questions',
      'hit rate',
      `TTFT ÷ full${args.simulate ? ' (predicted)' : ''}`,
      'held',
      'written',
    ],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const row of rows)
    table.push([
      row.method,
      `${row.from}–${row.to}`,
      percent(row.hitRate),
      row.ofFull.toFixed(3),
      megabytes(row.heldBytes),
      megabytes(row.writtenBytes),
    ]);
  console.log(table.toString());
  const result = {
    mode: args.simulate ? 'predicted' : 'measured',
    model: basename(path),
    threads: model.info.threads,
  };
  writeResult('steady', args.out, {
    ...result,
    ...about,
    dtype: args.dtype,
    share: Number(args.share),
    topK,
    rows,
  });
  if (args.out === undefined) return;
  const axes = { x: { label: 'questions' }, y: { label: 'TTFT ÷ full prefill' } };
  const series = [...Map.groupBy(rows, ({ method }) => method)].map(([name, points]) => ({
    name,
    points: points.map(({ to, ofFull }) => ({ x: to, y: ofFull })),
  }));
  writeFileSync(args.out.replace(/(\.json)?$/, '.svg'), chart('Steady state', axes, series));
}
