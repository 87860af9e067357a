/**
 * What it costs in quality to reuse passages in part: prompts that the app makes for the sample's questions, with the demo model.
 * Of one passage, or of all, only the KV of an older text is stored, which differs in a few tokens in the middle. The
 * divergence (KL) of the first token's distribution from that of a full prefill is compared for four ways to go about it: the
 * passage's own KV (as once it is precomputed), the runs that match, the same with other seams, and computing the passage.
 *
 *   npm run bench:matching -- [--questions 40] [--strategies "none;deviation --ratio 0.15"] [--out FILE.json]
 *
 * Times are of a tiny model at 1 thread, and say only that the ways differ; `find` is the search for what a passage was.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { App, type Workspace } from '../src-main/app.ts';
import type { ChunkKv, Model, Segment, Strategy } from '../src-main/engine/engine.ts';
import type { PromptPart } from '../src-main/fusion/blender.ts';
import { klDivergence, likeliest } from '../src-main/fusion/quality.ts';
import { MATCHING, match, spansOf } from '../src-main/fusion/matching/match.ts';
import { buildStrategy } from '../src-main/fusion/strategy.ts';
import { median } from './lib/machine.ts';
import { fromPrompt } from './lib/app-prompts.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    questions: { type: 'string', default: '40' },
    strategies: { type: 'string', default: 'none;deviation --ratio 0.15;query --ratio 0.15' },
    out: { type: 'string' },
  },
});

/** Tokens that differ. */
const EDIT = 4;
/** Shorter passages have no middle to speak of. */
const LEAST_TOKENS = 48;
const WAYS = ['own KV', 'matched', 'matched, no seam', 'matched, seam of 8', 'computed'] as const;
type Way = (typeof WAYS)[number];
const BOUNDARY: Partial<Record<Way, number>> = {
  matched: MATCHING.recomputeBoundary,
  'matched, no seam': 0,
  'matched, seam of 8': 8,
};

interface Row {
  edited: 'one passage' | 'every passage';
  strategy: string;
  way: Way;
  kl: number;
  top1: number;
  /** Of all appended tokens, those that did not come from the cache. */
  computedShare: number;
  ms: number;
}

/** The text a passage was before a few tokens in its middle were replaced, put in or taken out. */
function before(tokens: Int32Array, kind: number): Int32Array {
  const at = tokens.length >> 1;
  const [without, inserted] = [
    [EDIT, EDIT],
    [EDIT, 0],
    [0, EDIT],
  ][kind % 3] ?? [0, 0];
  const elsewhere = tokens.slice(2, 2 + (inserted ?? 0)); // words of the same text
  return Int32Array.of(...tokens.slice(0, at), ...elsewhere, ...tokens.slice(at + (without ?? 0)));
}

/** What the app appends for a question. */
async function promptOf(workspace: Workspace, question: string, topK?: number): Promise<PromptPart[]> {
  const parts = await fromPrompt(workspace, { question, topK }, (segments) =>
    segments.map((segment): PromptPart =>
      segment.kind === 'chunk'
        ? { kind: 'chunk', tokens: segment.chunk.tokens }
        : { kind: 'text', tokens: segment.tokens },
    ),
  );
  return parts ?? [];
}

/** A prompt's passages with the KV of what they are and of what they were. */
interface Case {
  parts: PromptPart[];
  /** By part; a passage too short to be edited has only its own. */
  kv: Map<number, { own: ChunkKv; old?: ChunkKv }>;
  full: Float32Array;
}

async function caseOf(model: Model, parts: PromptPart[], kind: number): Promise<Case> {
  const kv: Case['kv'] = new Map();
  for (const [i, { kind: what, tokens }] of parts.entries()) {
    if (what !== 'chunk') continue;
    const own = await model.encodeChunk(tokens, 'f16');
    const isLong = tokens.length >= LEAST_TOKENS;
    kv.set(i, isLong ? { own, old: await model.encodeChunk(before(tokens, kind), 'f16') } : { own });
  }
  const computed = parts.map(({ tokens }): Segment => ({ kind: 'compute', tokens }));
  return { parts, kv, full: (await run(model, computed, { kind: 'full' })).logits };
}

async function run(model: Model, segments: Segment[], strategy: Strategy) {
  const session = model.createSession(2048);
  try {
    const report = await session.append(segments, strategy);
    return { report, logits: session.logits().slice() };
  } finally {
    session.dispose();
  }
}

function segmentsOf({ parts, kv }: Case, way: Way, isEdited: (part: number) => boolean): Segment[] {
  return parts.flatMap(({ tokens }, i): Segment[] => {
    const { own, old } = kv.get(i) ?? {};
    if (!own) return [{ kind: 'compute', tokens }];
    if (!old || way === 'own KV' || !isEdited(i)) return [{ kind: 'chunk', chunk: own }];
    if (way === 'computed') return [{ kind: 'compute', tokens }];
    const options = { ...MATCHING, recomputeBoundary: BOUNDARY[way] ?? 0 };
    const found = match(tokens, [old.tokens], options);
    if (found.kind !== 'partial')
      throw new Error(`a passage of ${tokens.length} tokens was not matched in part`);
    return spansOf(found, tokens.length, options).map(({ start, count, ...piece }) =>
      piece.kind === 'reuse'
        ? { kind: 'chunk', chunk: old, range: { begin: piece.begin, count } }
        : { kind: 'compute', tokens: tokens.slice(start, start + count) },
    );
  });
}

async function measure(model: Model, cases: readonly Case[], row: Pick<Row, 'edited' | 'strategy' | 'way'>) {
  const strategy = strategyOf(row.strategy, model);
  const [kl, ms]: number[][] = [[], []];
  let [same, computed, all] = [0, 0, 0];
  for (const one of cases) {
    const first = [...one.kv].find(([, { old }]) => old)?.[0];
    const isEdited = (part: number): boolean => row.edited === 'every passage' || part === first;
    const { report, logits } = await run(model, segmentsOf(one, row.way, isEdited), strategy);
    kl?.push(klDivergence(one.full, logits));
    ms?.push(report.totalMs);
    if (likeliest(one.full) === likeliest(logits)) same++;
    computed += report.tokens - report.reusableTokens;
    all += report.tokens;
  }
  const mean = (kl ?? []).reduce((a, b) => a + b, 0) / cases.length;
  const result = { kl: mean, top1: same / cases.length, computedShare: computed / all, ms: median(ms ?? []) };
  return { ...row, ...result } satisfies Row;
}

function strategyOf(words: string, model: Model): Strategy {
  const [strategy = '', ...rest] = words.trim().split(/\s+/);
  const { values } = parseArgs({ args: rest, options: { ratio: { type: 'string' } } });
  const ratios = values.ratio === undefined ? undefined : [Number(values.ratio)];
  return buildStrategy(strategy, { ratios }, model.info.kvLayers);
}

/** Milliseconds to find what an edited passage was, in the store of the whole sample library. */
function timeToFind({ store }: App, model: Model, cases: readonly Case[]): number {
  const { fingerprint } = model.info;
  return median(
    cases.flatMap(({ kv }) =>
      [...kv.values()].flatMap(({ old }) => {
        if (!old) return [];
        const started = performance.now();
        const similar = store.similar({ fingerprint, dtype: 'f16', tokens: old.tokens });
        match(
          old.tokens,
          similar.map(({ tokens }) => tokens),
        );
        return performance.now() - started;
      }),
    ),
  );
}

function show(rows: readonly Row[]): void {
  const table = new Table({
    head: ['edited', 'strategy', 'way', 'KL, nats', 'same first token', 'computed', 'median ms'],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'left', 'right', 'right', 'right', 'right'],
  });
  for (const { edited, strategy, way, kl, top1, computedShare, ms } of rows)
    table.push([
      edited,
      strategy,
      way,
      kl.toFixed(4),
      `${(top1 * 100).toFixed(0)} %`,
      `${(computedShare * 100).toFixed(1)} %`,
      ms.toFixed(1),
    ]);
  console.log(table.toString());
}

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const app = await App.open({ dataDir: dir });
try {
  const workspace = await app.workspaces.open({ root: app.paths.sampleLibrary });
  const { model } = workspace;
  await workspace.library.drain();
  const file = join(import.meta.dirname, '..', 'resources', 'sample-library.questions.json');
  const questions = JSON.parse(readFileSync(file, 'utf8')) as { question: string }[];
  const cases: Case[] = [];
  for (const [i, { question }] of questions.slice(0, Number(args.questions)).entries())
    cases.push(await caseOf(model, await promptOf(workspace, question, app.settings.current.topK), i));
  const rows: Row[] = [];
  for (const edited of ['one passage', 'every passage'] as const)
    for (const strategy of args.strategies.split(';'))
      for (const way of WAYS) rows.push(await measure(model, cases, { edited, strategy, way }));
  show(rows);
  const findMs = timeToFind(app, model, cases);
  console.log(`Finding what a passage was, and matching it: ${findMs.toFixed(2)} ms (median).`);
  writeResult('matching', args.out, { model: model.info.name, questions: cases.length, findMs, rows });
} finally {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
}
