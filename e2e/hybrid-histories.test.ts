/** Random histories of conversations with hybrid models: every text equals the one computed from nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { ChunkStore } from '../src-main/kvstore/store.ts';
import { rangeOf, randomTokens } from '../tools/parity/compare.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import type { OtherArchitecture } from '../tools/random-model/other-shapes.ts';
import { FULL } from './support/full.ts';
import { fromNothing, Program, promptOf, type Turn } from './support/hybrid-conversations.ts';

const ALL: OtherArchitecture[] = [
  ...(['lfm2', 'qwen35', 'qwen35moe', 'qwen3next'] as const),
  ...(['granitehybrid', 'nemotron_h', 'falcon-h1', 'jamba'] as const),
];
const HYBRIDS: OtherArchitecture[] = FULL ? ALL : ['lfm2', 'qwen35', 'falcon-h1', 'jamba'];
/** Per architecture: 504 in all, or 16. */
const HISTORIES = FULL ? 63 : 4;
const STEPS = 6;
const HEAD = randomTokens(80, 500, 1);
const PASSAGES = Array.from({ length: 5 }, (_, i) => randomTokens(70 + 10 * i, 500, 100 + i));

let engine: Engine;
let dir: string;
beforeAll(() => {
  engine = Engine.open();
  dir = mkdtempSync(join(tmpdir(), 'kvasir-hybrids-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Numbers from 0 to below `n`, deterministic. */
function dice(seed: number): (n: number) => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

interface Totals {
  prompt: number;
  processed: number;
  restored: number;
  /** The largest difference of logits, as a share of their range. */
  noise: number;
}

/** Two conversations: new turns, edits, branches back to earlier ones, stopped answers, and restarts. */
async function history(path: string, reference: Model, seed: number): Promise<Totals> {
  const roll = dice(seed);
  const totals = { prompt: 0, processed: 0, restored: 0, noise: 0 };
  const store = await ChunkStore.open({
    ...{ dir: join(dir, `${seed}`), diskBudgetBytes: 1e9, ramBudgetBytes: 0, files: engine },
  });
  let program = await Program.start(engine, path, store);
  const conversations: Turn[][] = [[], []];
  for (let step = 0; step < STEPS; step++) {
    const id = roll(2);
    const turns = conversations[id] ?? [];
    if (roll(3) === 0) turns.length = roll(turns.length + 1); // an edit, or the same question again
    const from = roll(PASSAGES.length);
    turns.push({
      passages: PASSAGES.slice(from, from + roll(4)),
      question: randomTokens(8 + roll(8), 500, roll(4)),
      answer: new Int32Array(),
    });
    const parts = promptOf(HEAD, turns);
    const stopAfter = roll(4) === 0 ? 1 + roll(6) : Infinity;
    const result = await program.answer(id, parts, { stopAfter });
    const expected = await fromNothing(
      reference,
      parts.map(({ tokens }) => tokens),
    );
    const { answer } = result;
    expect([...answer], `history ${seed}, step ${step}`).toEqual([
      ...expected.answer.slice(0, answer.length),
    ]);
    if (stopAfter === Infinity) expect(answer.length).toBe(expected.answer.length);
    expect(result.processedTokens).toBeLessThanOrEqual(result.promptTokens - result.residentTokens);
    const range = rangeOf(expected.logits);
    const differences = result.logits.map(
      (value, i) => Math.abs(value - (expected.logits[i] ?? NaN)) / range,
    );
    totals.noise = Math.max(totals.noise, ...differences);
    totals.prompt += result.promptTokens;
    totals.processed += result.processedTokens;
    totals.restored += result.restoredTokens;
    (turns.at(-1) as Turn).answer = answer;
    if (roll(6) === 0) {
      await program.stop();
      program = await Program.start(engine, path, store);
    }
  }
  await program.stop();
  expect(program.failures).toEqual([]);
  await store.close();
  return totals;
}

/** The logits of a prompt whose pieces are appended one after the other. */
async function inTurn(model: Model, pieces: readonly Int32Array[]): Promise<Float32Array> {
  const session = model.createSession(4096);
  for (const tokens of pieces) await session.append([{ kind: 'compute', tokens }], { kind: 'full' });
  const logits = session.logits();
  session.dispose();
  return logits;
}

describe.each(HYBRIDS)('%s', (architecture) => {
  let reference: Model;
  let path: string;
  beforeAll(async () => {
    path = otherModel(architecture, dir);
    reference = await engine.loadModel(path, { device: 'cpu', threads: 1 });
  });
  afterAll(() => reference.dispose());

  /** How much libllama's own logits depend on how these prompts are divided into passes, as a share of their range. */
  async function ownNoise(): Promise<number> {
    const largest: number[] = [];
    for (const i of PASSAGES.keys()) {
      const passages = [...PASSAGES.slice(i), ...PASSAGES.slice(0, i)];
      const prompt = Int32Array.of(...HEAD, ...passages.flatMap((tokens) => [...tokens]));
      const { logits } = await fromNothing(reference, [prompt]);
      const ways = [
        [prompt.slice(0, 80), prompt.slice(80, 303), prompt.slice(303)],
        [prompt.slice(0, -40), ...Array.from(prompt.slice(-40), (token) => Int32Array.of(token))],
      ];
      for (const pieces of ways) {
        const other = await inTurn(reference, pieces);
        const range = rangeOf(logits);
        largest.push(...logits.map((value, at) => Math.abs(value - (other[at] ?? NaN)) / range));
      }
    }
    return Math.max(...largest);
  }

  test(
    `${HISTORIES} histories: no text differs from one computed from nothing`,
    { timeout: 600_000 },
    async () => {
      const own = await ownNoise();
      let [prompt, processed, restored] = [0, 0, 0];
      for (let seed = 1; seed <= HISTORIES; seed++) {
        const totals = await history(path, reference, seed + 1000 * ALL.indexOf(architecture));
        expect(totals.noise, `history ${seed}`).toBeLessThan(2 * own);
        prompt += totals.prompt;
        processed += totals.processed;
        restored += totals.restored;
      }
      expect(processed).toBeLessThan(0.6 * prompt);
      expect(restored).toBeGreaterThan(0);
    },
  );
});
