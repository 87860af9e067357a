/**
 * Kills a process that precomputes chunks, at random points, and checks that nothing wrong is served afterwards: with the real engine, a
 * real model and real files.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engine, type ChunkKv, type Model } from '../src-main/engine/engine.ts';
import { ChunkStore } from '../src-main/kvstore/store.ts';
import { randomFrom } from '../src-main/testing/random.ts';
import { FULL } from './support/full.ts';
import {
  CHUNKS,
  makeModel,
  MODEL_OPTIONS,
  plan,
  shuffled,
  type PlannedChunk,
} from './support/store-crash-plan.ts';

const SEEDS = FULL ? 50 : 16;
/** Concurrent runs: one process computes while another starts. */
const LANES = 2;
/** A budget for all chunks; every third run has room for only a quarter of them, so that some processes die during eviction. */
const ROOMY = 1e9;

interface Outcome {
  /** Keys whose put() had resolved, in order. */
  promised: string[];
  killed: boolean;
}

let work: string;
let modelPath: string;
let engine: Engine;
let model: Model;
let chunks: PlannedChunk[];
/** Key → the file of a chunk encoded here, without a crash. */
const fresh = new Map<string, Buffer>();
const freshKv = new Map<string, ChunkKv>();
let tight: number;
/** Milliseconds per chunk in an undisturbed run. */
let step: number;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'kvasir-crash-'));
  modelPath = makeModel(work);
  engine = Engine.open();
  model = await engine.loadModel(modelPath, MODEL_OPTIONS);
  chunks = plan(model);
  for (const { key, tokens, dtype } of chunks) {
    const chunk = await model.encodeChunk(tokens, dtype);
    const path = join(work, key);
    await chunk.save(path);
    fresh.set(key, readFileSync(path));
    freshKv.set(key, chunk);
  }
  tight = [...fresh.values()].reduce((sum, file) => sum + file.length, 0) / 4;
  let opened = 0;
  const undisturbed = await precompute(join(work, 'undisturbed'), 0, ROOMY, (done) => {
    if (done === 0) opened = Date.now();
  });
  step = (Date.now() - opened) / CHUNKS;
  expect(undisturbed).toEqual({ promised: shuffled(chunks, 0).map((chunk) => chunk.key), killed: false });
}, 120_000);

afterAll(() => {
  for (const chunk of freshKv.values()) chunk.dispose();
  model.dispose();
  rmSync(work, { recursive: true, force: true });
});

/** Runs a victim; `onProgress` receives the number of stored chunks, from 0, and may kill it. */
function precompute(
  dir: string,
  seed: number,
  budget: number,
  onProgress: (done: number, kill: () => void) => void = () => undefined,
): Promise<Outcome> {
  const script = join(import.meta.dirname, 'support', 'store-crash-child.ts');
  const child = spawn(process.execPath, [script, modelPath, dir, String(seed), String(budget)]);
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    onProgress(lines.length - 1, () => child.kill('SIGKILL'));
  });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (code !== 0 && signal !== 'SIGKILL')
        reject(new Error(`the child failed (${String(code)}): ${errors}`));
      resolve({ promised: lines.slice(1), killed: signal === 'SIGKILL' });
    });
  });
}

/** One seed: run, kill, reopen, check. Returns the victim's progress, and the number of repairs. */
async function crash(seed: number): Promise<{ killed: boolean; progress: number; repaired: number }> {
  const dir = join(work, `seed-${seed}`);
  const budget = seed % 3 === 2 ? tight : ROOMY;
  // Spread over the whole run, independent of machine load: after this many chunks, and a random part of the next.
  const after = Math.floor((seed * CHUNKS) / SEEDS);
  const part = randomFrom(seed)();
  let opened = 0;
  const outcome = await precompute(dir, seed, budget, (done, kill) => {
    if (done === 0) opened = Date.now();
    // The time per chunk in this run so far, because the machine's load varies.
    const stepNow = done === 0 ? step : (Date.now() - opened) / done;
    if (done === after) setTimeout(kill, part * stepNow);
  });
  const repaired = await checkServed(dir, budget, outcome.promised, seed);
  rmSync(dir, { recursive: true, force: true });
  return { killed: outcome.killed, progress: outcome.promised.length / CHUNKS, repaired };
}

/** Opens the store that the victim left. Everything served is right, everything promised exists, nothing else does. */
async function checkServed(dir: string, budget: number, promised: string[], seed: number): Promise<number> {
  const note = `seed ${seed}, after ${promised.length} chunks`;
  const store = await ChunkStore.open({ dir, diskBudgetBytes: budget, ramBudgetBytes: 0, files: engine });
  try {
    const { recovery } = store;
    // A file is renamed after fsync, so a killed process never leaves a bad one under its final name.
    expect(recovery, note).toMatchObject({
      quarantined: [],
      ignored: [],
      newerFormat: [],
      indexSetAside: undefined,
    });
    const stored = store.list().map((entry) => entry.key);
    expect([...fresh.keys()], note).toEqual(expect.arrayContaining(stored));
    if (budget === ROOMY) {
      expect(stored, note).toEqual(expect.arrayContaining(promised));
      expect(
        stored.length - promised.length,
        `${note}: at most one more chunk, the one in progress`,
      ).toBeLessThanOrEqual(1);
    }
    expect(store.stats().bytes, note).toBeLessThanOrEqual(budget);
    expect(await store.verify(), note).toMatchObject({ checked: stored.length, ok: stored.length });
    expect(filesUnder(join(dir, 'chunks')), note).toBe(stored.length);
    expect(filesUnder(join(dir, 'tmp')), note).toBe(0);
    for (const chunk of chunks) await checkChunk(store, dir, chunk, stored.includes(chunk.key), note);
    const sample = chunks.filter((chunk) => stored.includes(chunk.key))[seed % Math.max(1, stored.length)];
    if (sample) await checkLogits(store, sample, note);
    return recovery.adopted + recovery.rowsDropped + recovery.tempFilesRemoved;
  } finally {
    await store.close();
  }
}

async function checkChunk(
  store: ChunkStore,
  dir: string,
  chunk: PlannedChunk,
  isStored: boolean,
  note: string,
) {
  const lease = await store.acquire(chunk.key, model);
  expect(lease !== undefined, note).toBe(isStored);
  if (!lease) return;
  expect(lease.chunk.tokens).toEqual(chunk.tokens);
  lease.release();
  const file = readFileSync(chunkPath(dir, chunk.key));
  expect(fresh.get(chunk.key)?.equals(file), `${note}: KV differs from a freshly encoded chunk's`).toBe(true);
}

/** The stored chunk and a fresh one in memory give bit-identical logits. */
async function checkLogits(store: ChunkStore, chunk: PlannedChunk, note: string): Promise<void> {
  const lease = await store.acquire(chunk.key, model);
  const kv = freshKv.get(chunk.key);
  if (!lease || !kv) throw new Error(`${note}: the sample is missing`);
  const stored = await logitsWith(lease.chunk);
  lease.release();
  expect(stored, note).toEqual(await logitsWith(kv));
}

async function logitsWith(chunk: ChunkKv): Promise<Float32Array> {
  const session = model.createSession(256);
  try {
    const question = Int32Array.of(5, 6, 7, 8);
    const segments = [
      { kind: 'compute' as const, tokens: model.encodingPrefix },
      { kind: 'chunk' as const, chunk },
      { kind: 'compute' as const, tokens: question },
    ];
    await session.append(
      segments.filter((segment) => segment.kind === 'chunk' || segment.tokens.length > 0),
      { kind: 'none' },
    );
    return session.logits().slice();
  } finally {
    session.dispose();
  }
}

function chunkPath(dir: string, key: string): string {
  return join(dir, 'chunks', key.slice(0, 2), `${key}.v1.kvc`);
}

function filesUnder(dir: string): number {
  return readdirSync(dir, { recursive: true }).filter((name) => statSync(join(dir, String(name))).isFile())
    .length;
}

test(`${SEEDS} kills during a precompute: nothing wrong is served`, async () => {
  const outcomes: Awaited<ReturnType<typeof crash>>[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < SEEDS) outcomes.push(await crash(next++));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const progress = outcomes.map((outcome) => outcome.progress);
  const killed = outcomes.filter((outcome) => outcome.killed).length;
  console.log(
    `${killed} of ${SEEDS} killed, after ${Math.round(100 * Math.min(...progress))}–${Math.round(100 * Math.max(...progress))} % ` +
      `of the chunks; ${outcomes.filter((outcome) => outcome.repaired > 0).length} needed repairs`,
  );
  // The test is valid only if the kills hit the work, early and late.
  expect(killed).toBeGreaterThan(SEEDS / 2);
  expect(Math.min(...progress)).toBeLessThan(0.1);
  expect(Math.max(...progress)).toBeGreaterThan(0.9);
});

test('the check detects a wrong file', async () => {
  const dir = join(work, 'forged');
  const { promised } = await precompute(dir, 0, ROOMY);
  const [first, second] = chunks;
  if (!first || !second) throw new Error('no chunks');
  writeFileSync(chunkPath(dir, first.key), fresh.get(second.key) ?? '');
  await expect(checkServed(dir, ROOMY, promised, 0)).rejects.toThrow(/ok: 32/);
});
