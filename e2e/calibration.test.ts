/** Calibration with the real engine, the demo model and the sample library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CalibrationRequestSchema } from '../src-shared/contract/calibration.ts';
import { App } from '../src-main/app.ts';

let dir: string;
let app: App;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-calibration-'));
  app = await App.open({ dataDir: dir });
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

test('ratio 1 is the full prefill, reusing everything is not, and the choice is stored', async () => {
  const workspace = await app.workspaces.open({ root: app.paths.sampleLibrary });
  await workspace.library.drain({ precompute: false });
  const request = CalibrationRequestSchema.parse({
    strategies: ['none', 'query'],
    ratios: [0.15, 1],
    prompts: 4,
  });
  const calibration = await app.workspaces.calibrate(workspace, request, {});
  const points = (name: string) => calibration.points.filter(({ strategy }) => strategy.name === name);
  const [none] = points('none');
  const all = points('query').filter(({ strategy }) => strategy.ratio === 1);
  expect(all).not.toHaveLength(0);
  for (const point of all) {
    expect(point).toMatchObject({ agreement: 1 });
    expect(point.kl).toBeLessThan(1e-6);
  }
  expect(none?.kl).toBeGreaterThan(0.01);
  expect(none?.recomputedShare).toBe(0);
  expect(calibration).toMatchObject({
    prompts: 4,
    texts: { kind: 'questions' },
    textKind: 'headings',
    dtype: 'f16',
    kvDtype: 'f16',
  });
  expect(app.calibration.of(workspace.model, 'headings')).toEqual(calibration);
  expect(app.store.stats().entries).toBe(0); // calibration stores no chunks
});

test('a library without sample questions is measured by questions about the names in it', async () => {
  const workspace = await app.workspaces.open({ root: join(app.paths.sampleLibrary, 'buildings') });
  await workspace.library.drain({ precompute: false });
  const request = CalibrationRequestSchema.parse({ strategies: ['query'], ratios: [1], prompts: 3 });
  const again = [
    await app.workspaces.calibrate(workspace, request, {}),
    await app.workspaces.calibrate(workspace, request, {}),
  ];
  for (const { texts, prompts, points } of again) {
    expect({ texts, prompts }).toEqual({
      texts: { library: 'buildings', kind: 'topics' },
      prompts: 3,
    });
    expect(points[0]?.kl).toBeLessThan(1e-6);
  }
  expect(again[0]?.promptTokens).toBe(again[1]?.promptTokens);
});

test('stopping ends it soon', async () => {
  const workspace = await app.workspaces.open({ root: app.paths.sampleLibrary });
  const stop = new AbortController();
  const running = app.workspaces.calibrate(workspace, CalibrationRequestSchema.parse({}), {
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
});
