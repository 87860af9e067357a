/** The controller with the real engine, the demo model and a part of the sample library: predictions and measured outcomes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlanSchema } from '../src-shared/plan.ts';
import { App } from '../src-main/app.ts';
import { readLibrary, type ReadLibrary } from './support/library.ts';

const AUTO = { strategy: { name: 'auto' as const }, topK: 4, maxTokens: 4 };

let dir: string;
let app: App;
let library: ReadLibrary;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-controller-'));
  app = await App.open({ dataDir: dir });
  library = await readLibrary(app, { path: join(app.paths.sampleLibrary, 'people') });
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

test('the first answer uses the default, the next one the prediction; both report it', async () => {
  const questions = ['Where was Mara born?', 'Which pet does Jon have?', 'Who lives in Oslo?'];
  const plans = [];
  for (const question of questions) {
    const { plan, strategy } = await library.ask({ ...AUTO, question });
    plans.push(PlanSchema.parse(plan));
    if (!plan?.fellBack) expect(strategy).toMatchObject({ name: plan?.strategy.name });
  }
  expect(plans[0]).toMatchObject({
    wish: 'auto',
    reason: 'unmeasured',
    predictedTtftMs: null,
    errorShare: null,
  });
  for (const plan of plans.slice(1)) {
    expect(plan.predictedTtftMs?.total).toBeGreaterThan(0);
    expect(plan.outcomeMs).toBeGreaterThan(0);
    expect(plan.errorShare).toBeCloseTo(
      ((plan.predictedTtftMs?.total ?? 0) - plan.outcomeMs) / plan.outcomeMs,
      9,
    );
    expect(plan.predictedFullPrefillMs).toBeGreaterThan(0);
    expect(['floor', 'hidden', 'full-is-faster', 'nothing-cached']).toContain(plan.reason);
  }
  expect(JSON.parse(readFileSync(app.paths.costs, 'utf8'))).toMatchObject({ version: 3 });
});

test('a requested strategy is used, and still predicted', async () => {
  const strategy = { name: 'query' as const, questionLayers: [2], ratio: 0.3 };
  const { plan } = await library.ask({ ...AUTO, strategy, question: 'Where was Mara born?' });
  expect(plan).toMatchObject({
    wish: 'query',
    reason: 'asked',
    strategy: { name: 'query', ratio: 0.3 },
    fellBack: false,
  });
  expect(plan?.predictedTtftMs?.total).toBeGreaterThan(0);
});
