/** Client text and a calibration that measured another kind of text: real engine, demo model, sample library. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Calibration } from '../src-shared/contract/calibration.ts';
import type { StrategyChoice, StrategyRequest } from '../src-shared/strategy.ts';
import { App } from '../src-main/app.ts';
import { recomputePrompt } from '../src-main/answering/recompute-prompt.ts';
import { clientPrompt } from '../src-main/completions/ask.ts';
import { tokenPrompt } from '../src-main/answering/backends/token-prompt.ts';
import type { CompletionMessage, CompletionResult } from '../src-main/completions/types.ts';
import type { FusionModel as Model } from '../src-main/fusion/model.ts';
import { nearestAt } from '../src-main/fusion/calibration/choose.ts';
import { UNCALIBRATED } from '../src-main/fusion/planning/controller.ts';
import type { Drift } from '../src-main/fusion/watching/watch-service.ts';
import { systemClock } from '../src-main/platform/clock.ts';
import { FULL } from './support/full.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

const PASSAGES = 6;
const signal = new AbortController().signal;

let dir: string;
let app: App;
/** One message per sample question: passages as the client's parts, then the question. */
let asked: CompletionMessage[];
let calibration: Calibration;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-client-texts-'));
  app = await App.open({ dataDir: await readyData(join(dir, 'data')) });
  const { chunks, model } = await readLibrary(app, { precompute: false });
  const measured = app.calibration.of(model, 'headings');
  if (!measured) throw new Error('no calibration');
  calibration = measured;
  await app.loader.current();
  const all = JSON.parse(readFileSync(app.paths.sampleQuestions, 'utf8')) as { question: string }[];
  const questions = all.filter((_, i) => FULL || i % 3 === 0);
  const texts = new Map([...chunks()].map(({ id, text }) => [id, text]));
  asked = await Promise.all(
    questions.map(async ({ question }): Promise<CompletionMessage> => {
      const scope = { libraryIds: [], documentIds: [] };
      const { chunks } = await app.search.find(question, { scope, topK: PASSAGES });
      const passages = chunks.map(({ chunkId }) => ({ text: texts.get(chunkId) ?? '', cache: true }));
      return { role: 'user', parts: [...passages, { text: `\n\nQuestion: ${question}` }] };
    }),
  );
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

test("auto is as close to the full prefill as the model's best strategy", async () => {
  expect(calibration.textKind).toBe('headings');
  const model = app.localModels.active?.model;
  if (!model) throw new Error('no model');
  const usual = nearestAt([calibration], UNCALIBRATED.ratio) ?? UNCALIBRATED;
  const rows = [];
  for (const message of asked) {
    await answer(message); // stores the parts
    const auto = await answer(message);
    const full = await answer(message, { name: 'full', ratio: 1 });
    const { strategy } = auto.made.stats;
    rows.push({
      strategy,
      same: auto.text === full.text,
      byAuto: await driftOf(message, strategy, model),
      byUsual: await driftOf(message, usual, model),
      byCalibrated: await driftOf(message, calibration.choice.strategy, model),
    });
  }
  const klOf = (drifts: readonly Drift[]) => drifts.reduce((sum, { kl }) => sum + kl, 0) / drifts.length;
  const sameOf = (drifts: readonly Drift[]) => drifts.filter(({ agreement }) => agreement === 1).length;
  const told = (name: string, drifts: Drift[]) =>
    `${name}: the same answer ${sameOf(drifts)} of ${drifts.length}, KL ${klOf(drifts).toFixed(4)}`;
  const [auto, byUsual] = [rows.map(({ byAuto }) => byAuto), rows.map((row) => row.byUsual)];
  console.log(
    [
      `Over the API: the same answer as by full prefill in ${rows.filter(({ same }) => same).length}`,
      told('auto', auto),
      told(usual.name, byUsual),
      told(
        `calibrated (${calibration.choice.strategy.name})`,
        rows.map(({ byCalibrated }) => byCalibrated),
      ),
    ].join('\n'),
  );
  expect(rows).toHaveLength(FULL ? 16 : 6);
  // Loading may hide more recomputation; if computing is faster, everything is computed.
  for (const { strategy } of rows.filter((row) => row.strategy.name !== 'full'))
    expect(strategy).toMatchObject({ name: usual.name });
  expect(rows.filter(({ same }) => same).length).toBeGreaterThanOrEqual(sameOf(byUsual) - 1);
  expect(klOf(auto)).toBeLessThanOrEqual(Math.max(0.05, klOf(byUsual)));
});

function answer(message: CompletionMessage, strategy?: StrategyRequest): Promise<CompletionResult> {
  const [model, prompt] = [app.loader.active?.name ?? '', { messages: [message] }];
  return app.completions.complete({ model, prompt, temperature: 0, maxTokens: 24, strategy }, { signal });
}

/** Measures how far a prompt by one strategy is from its full prefill. */
async function driftOf(message: CompletionMessage, strategy: StrategyChoice, model: Model): Promise<Drift> {
  const asked = { ...clientPrompt({ messages: [message] }), think: false, contextTokens: 100_000 };
  const { parts, behind } = tokenPrompt(model, asked);
  const { dtype } = app.settings.current;
  const options = { model, store: app.store, clock: systemClock, dtype, signal };
  const drift = await recomputePrompt({ parts, behind, strategy }, options);
  if (!drift) throw new Error('no part of the prompt is cached');
  return drift;
}
