/**
 * Measures how much sooner a hybrid's prompt is processed from a checkpoint: a second turn, the same documents with another question, and
 * the same after a restart, each beside computing the whole prompt, in one run.
 *
 *   npm run bench:hybrids -- [--model F.gguf | --architecture qwen35 --width 1024 --layers 24] [--context 4096] [--passage 512]
 *                            [--question 32] [--rounds 3] [--threads N] [--out FILE.json]
 *
 * Without a model file, random f32 weights in the shape of a 0.6B model. Times include restoring: copying memory, and after a restart reading
 * and checking the file. Rounds alternate; ratios are medians of the rounds' ratios. The texts must be equal.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Model } from '../src-main/engine/engine.ts';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import { OTHER_SHAPES, type OtherArchitecture } from '../tools/random-model/other-shapes.ts';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { randomIds } from './ttft/prompt.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    architecture: { type: 'string', default: 'qwen35' },
    width: { type: 'string', default: '1024' },
    layers: { type: 'string', default: '24' },
    context: { type: 'string', default: '4096' },
    passage: { type: 'string', default: '512' },
    question: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});
const CONTEXT = Number(args.context);
const PASSAGE = Number(args.passage);
const QUESTION = Number(args.question);
const FULL = { kind: 'full' } as const;
const HEAD = 64;
const ANSWER = 16;

const engine = openWithPacks();
const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-hybrids-'));
const load = (path: string): Promise<Model> =>
  engine.loadModel(path, { threads: Number(args.threads), device: 'cpu' });

function modelFile(): string {
  if (args.model !== undefined) return args.model;
  if (!(args.architecture in OTHER_SHAPES)) throw new TypeError(`--architecture: not ${args.architecture}`);
  const width = Number(args.width);
  const size = { width, layers: Number(args.layers), heads: width / 64, kvHeads: width / 128, head: 128 };
  const shape = { ...size, feedForward: 3 * width, state: 128, vocabulary: 32_000 };
  return otherModel(
    args.architecture as OtherArchitecture,
    dir,
    { [`${args.architecture}.context_length`]: { u32: 2 * CONTEXT } },
    shape,
  );
}

interface Processed {
  ms: number;
  processed: number;
  text: string;
}

/** Processes a prompt in a new session, which continues what the model knows of it if `adopts`. */
async function answer(model: Model, parts: readonly Int32Array[], adopts: boolean): Promise<Processed> {
  const whole = Int32Array.of(...parts.flatMap((part) => [...part]));
  const session = model.createSession(whole.length + ANSWER);
  const started = performance.now();
  let known = adopts ? await session.adopt(whole) : 0;
  const rest = parts.flatMap((part) => {
    const skip = Math.min(known, part.length);
    known -= skip;
    return skip < part.length ? [{ kind: 'compute' as const, tokens: part.subarray(skip) }] : [];
  });
  const { processedTokens: processed } = await session.append(rest, FULL);
  const ms = performance.now() - started;
  const { tokens } = await session.generate({ maxTokens: ANSWER });
  session.dispose();
  return { ms, processed, text: tokens.join(' ') };
}

interface Case {
  name: string;
  parts: readonly Int32Array[];
}

function casesOf(ids: Int32Array): Case[] {
  const passages = Array.from({ length: Math.ceil((CONTEXT - HEAD - QUESTION) / PASSAGE) }, (_, i) =>
    ids.subarray(HEAD + i * PASSAGE, Math.min(HEAD + (i + 1) * PASSAGE, CONTEXT - QUESTION)),
  );
  const beginning = [ids.subarray(0, HEAD), ...passages];
  const [first, second] = [0, 1].map((i) =>
    ids.subarray(CONTEXT + i * QUESTION, CONTEXT + (i + 1) * QUESTION),
  );
  const said = ids.subarray(CONTEXT + 2 * QUESTION, CONTEXT + 2 * QUESTION + ANSWER);
  return [
    { name: 'second turn', parts: [...beginning, Int32Array.of(...(first ?? []), ...said), second ?? said] },
    { name: 'same documents', parts: [...beginning, second ?? said] },
    { name: 'after a restart', parts: [...beginning, second ?? said] },
  ];
}

/** What comes before a case, whose memory the model keeps. */
async function prepare(
  { name, parts }: Case,
  path: string,
): Promise<{ model: Model; loadMs: number; bytes: number }> {
  const model = await load(path);
  model.setKvBudget(2 ** 40);
  const first =
    name === 'second turn'
      ? parts.slice(0, -1)
      : [...parts.slice(0, -1), Int32Array.of(...randomIds(QUESTION, 1000, 7))];
  await answer(model, first, false);
  if (name !== 'after a restart') return { model, loadMs: 0, bytes: 0 };
  const stored = await model.exportPrefix(Int32Array.of(...parts.slice(0, -1).flatMap((part) => [...part])));
  if (!stored) throw new Error('nothing was kept');
  const file = join(dir, 'checkpoint.kvc');
  await stored.save(file);
  const { bytes } = stored;
  stored.dispose();
  model.dispose();
  const again = await load(path);
  again.setKvBudget(2 ** 40);
  const started = performance.now();
  const prefix = await again.openPrefix(file);
  await again.importPrefix(prefix);
  prefix.dispose();
  return { model: again, loadMs: performance.now() - started, bytes };
}

const path = modelFile();
const baseline = await load(path);
const { threads, vocabSize } = baseline.info;
const cases = casesOf(randomIds(CONTEXT + 2 * QUESTION + ANSWER, vocabSize));
await answer(baseline, [randomIds(64, vocabSize)], false);
const rows = [];
for (const each of cases) {
  const rounds = [];
  let size = 0;
  for (let round = 0; round < Number(args.rounds); round++) {
    const all = await answer(baseline, each.parts, false);
    const { model, loadMs, bytes } = await prepare(each, path);
    const from = await answer(model, each.parts, true);
    model.dispose();
    if (from.text !== all.text)
      throw new Error(`${each.name}: the text differs from one computed from nothing`);
    size = bytes;
    rounds.push({ all, from: { ...from, ms: from.ms + loadMs } });
  }
  rows.push({
    case: each.name,
    allMs: median(rounds.map(({ all }) => all.ms)),
    ms: median(rounds.map(({ from }) => from.ms)),
    ratio: median(rounds.map(({ all, from }) => from.ms / all.ms)),
    promptTokens: rounds[0]?.all.processed,
    computedTokens: rounds[0]?.from.processed,
    fileBytes: size,
  });
}
baseline.dispose();
if (existsSync(dir)) rmSync(dir, { recursive: true });
const table = new Table({
  head: ['case', 'prompt', 'computed', 'all', 'from checkpoint', 'ratio'],
  style: { head: [], border: [] },
});
for (const row of rows)
  table.push([
    ...[row.case, `${row.promptTokens}`, `${row.computedTokens}`],
    ...[`${Math.round(row.allMs)} ms`, `${Math.round(row.ms)} ms`, row.ratio.toFixed(3)],
  ]);
console.log(table.toString());
writeResult('hybrids', args.out, { model: basename(path), threads, context: CONTEXT, rows });
