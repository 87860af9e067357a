/**
 * How close blending comes to a full prefill, by strategy: on the prompts that the app itself makes for questions about the
 * sample library, with the demo model. The divergence (KL) of the first token's distribution from that of a full prefill,
 * how often both have the same likeliest token, how many of the sample's one-hop questions are answered rightly, and how
 * long the append took.
 *
 *   npm run bench:strategies -- [--ratios 0.05,0.15,0.3] [--people 26] [--out FILE.json]
 *                               [--only "query --ratio 0.15 --question-layers 2;deviation --cover 0.6"]
 *
 * Questions of the sample, and three about each person of the library: 87 in all. Times are of a tiny model at 1 thread: see
 * bench:ttft for those that count.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { App, type Workspace } from '../src-main/app.ts';
import type { Model, Segment, Strategy } from '../src-main/engine/engine.ts';
import { klDivergence, likeliest } from '../src-main/fusion/quality.ts';
import { strategyOf, type StrategyFlags } from '../src-main/hosts/command-line/strategy-flags.ts';
import { fromPrompt } from './lib/app-prompts.ts';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    ratios: { type: 'string', default: '0.05,0.15,0.3' },
    people: { type: 'string', default: '26' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
});

const ANSWER_TOKENS = 24;
const SAMPLE = join(import.meta.dirname, '..', 'resources');

interface Question {
  question: string;
  /** What a right answer contains; unknown where only likeness is measured. */
  answer?: string;
}

/** A question's prompt as the app makes it, and the full prefill's logits and answer. */
interface Case extends Question {
  segments: Segment[];
  capacity: number;
  full: Float32Array;
}

interface Row {
  strategy: string;
  kl: number;
  top1: number;
  right: string;
  share: number;
  ms: number;
}

function questions(): Question[] {
  const sample = JSON.parse(readFileSync(join(SAMPLE, 'sample-library.questions.json'), 'utf8')) as {
    question: string;
    key: string;
    kind: string;
  }[];
  const people = readdirSync(join(SAMPLE, 'sample-library', 'people'))
    .sort()
    .slice(0, Number(args.people));
  const names = people.map((file) =>
    basename(file, extname(file)).replace(/(^|-)./g, (part) => part.replace('-', ' ').toUpperCase()),
  );
  return [
    ...sample
      .filter(({ kind }) => kind === 'one hop')
      .map(({ question, key }) => ({ question, answer: key })),
    ...names.flatMap((name) => [
      { question: `Where was ${name} born?` },
      { question: `Which pet does ${name} have?` },
      { question: `What does ${name} drink?` },
    ]),
  ];
}

/** Blends a prompt in a session of its own. */
async function run(
  model: Model,
  { segments, capacity }: Pick<Case, 'segments' | 'capacity'>,
  strategy: Strategy,
) {
  const session = model.createSession(capacity);
  try {
    const start = performance.now();
    const report = await session.append(segments, strategy);
    const ms = performance.now() - start;
    const logits = session.logits();
    const { tokens } = await session.generate({ maxTokens: ANSWER_TOKENS });
    return { logits, ms, report, text: model.detokenize(tokens) };
  } finally {
    session.dispose();
  }
}

/** The prompt that the app makes, with chunks in memory of their own: leases end with the answer. */
async function promptOf(workspace: Workspace, question: Question, topK?: number): Promise<Case> {
  const { model } = workspace;
  const segments = await fromPrompt(workspace, { question: question.question, topK }, (appended) =>
    Promise.all(
      appended.map(async (segment): Promise<Segment> =>
        segment.kind === 'compute'
          ? segment
          : { kind: 'chunk', chunk: await model.encodeChunk(segment.chunk.tokens, 'f16') },
      ),
    ),
  );
  if (!segments) throw new Error('the app appended nothing');
  const tokens = segments.reduce(
    (sum, one) => sum + (one.kind === 'chunk' ? one.chunk : one).tokens.length,
    0,
  );
  const made = { segments, capacity: tokens + ANSWER_TOKENS };
  return { ...question, ...made, full: (await run(model, made, { kind: 'full' })).logits };
}

async function measure(
  model: Model,
  cases: readonly Case[],
  label: string,
  strategy: Strategy,
): Promise<Row> {
  const known = cases.filter(({ answer }) => answer !== undefined).length;
  const kl: number[] = [];
  const ms: number[] = [];
  let [same, right, recomputed, reusable] = [0, 0, 0, 0];
  for (const one of cases) {
    const blended = await run(model, one, strategy);
    kl.push(klDivergence(one.full, blended.logits));
    ms.push(blended.ms);
    if (likeliest(one.full) === likeliest(blended.logits)) same += 1;
    if (one.answer !== undefined && blended.text.toLowerCase().includes(one.answer.toLowerCase())) right += 1;
    recomputed += blended.report.recomputedTokens;
    reusable += blended.report.reusableTokens;
  }
  return {
    strategy: label,
    kl: kl.reduce((a, b) => a + b, 0) / kl.length,
    top1: same / cases.length,
    right: `${right} of ${known}`,
    share: reusable > 0 ? recomputed / reusable : 0,
    ms: median(ms),
  };
}

/** "query --ratio 0.15 --question-layers 2" as the command line's flags would say it. */
function optionsOf(words: string): StrategyFlags {
  const [strategy, ...rest] = words.trim().split(/\s+/);
  const { values } = parseArgs({
    args: rest,
    options: {
      ratio: { type: 'string' },
      cover: { type: 'string' },
      'check-layers': { type: 'string' },
      'question-layers': { type: 'string' },
      'deviation-of': { type: 'string' },
    },
  });
  return {
    strategy,
    ratio: values.ratio,
    cover: values.cover,
    checkLayers: values['check-layers'],
    questionLayers: values['question-layers'],
    deviationOf: values['deviation-of'],
  };
}

function chosen(): string[] {
  if (args.only) return args.only.split(';').map((words) => words.trim());
  const selective = ['deviation', 'query'];
  return [
    'full',
    'none',
    ...args.ratios.split(',').flatMap((ratio) => selective.map((name) => `${name} --ratio ${ratio}`)),
  ];
}

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const app = await App.open({ dataDir: dir });
try {
  const workspace = await app.workspaces.open({ root: app.paths.sampleLibrary });
  const { model } = workspace;
  await workspace.library.drain();
  const cases: Case[] = [];
  for (const question of questions())
    cases.push(await promptOf(workspace, question, app.settings.current.topK));
  const rows: Row[] = [];
  for (const words of chosen()) {
    const strategy = strategyOf(optionsOf(words), model.info.kvLayers);
    if (strategy.kind === 'auto') throw new Error('auto is no strategy that could be measured here.');
    rows.push(await measure(model, cases, words, strategy));
  }

  const table = new Table({
    head: ['strategy', 'KL, nats', 'same first token', 'right', 'recomputed', 'median ms'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
  });
  for (const { strategy, kl, top1, right, share, ms } of rows)
    table.push([
      strategy,
      kl.toFixed(4),
      `${(top1 * 100).toFixed(0)} %`,
      right,
      `${(share * 100).toFixed(1)} %`,
      ms.toFixed(1),
    ]);
  console.log(table.toString());
  writeResult('strategies', args.out, { model: model.info.name, questions: cases.length, rows });
} finally {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
}
