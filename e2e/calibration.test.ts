/** Calibration with the real engine, the demo model and the sample library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { readLibrary } from './support/library.ts';

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
  const { client, libraryId, model } = await readLibrary(app, { precompute: false });
  const calibration = await client.call('calibration.run', {
    libraryId,
    strategies: ['none', 'query'],
    ratios: [0.15, 1],
    prompts: 4,
  });
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
  expect(app.calibration.of(model, 'headings')).toEqual(calibration);
  const losses = calibration.formats.map(({ dtype, kl }) => [dtype, kl] as const);
  expect(losses.map(([dtype]) => dtype)).toEqual(['q8_0', 'k8v4', 'q4']);
  for (const [, kl] of losses) expect(kl).toBeGreaterThan(0);
  expect(losses[0]?.[1]).toBeLessThan(losses[2]?.[1] ?? 0);
  expect(app.store.stats().entries).toBe(0); // calibration stores no chunks
});

test('a library without sample questions is measured by questions about the names in it', async () => {
  const path = join(app.paths.sampleLibrary, 'buildings');
  const { client, libraryId } = await readLibrary(app, { path, precompute: false });
  const request = { libraryId, strategies: ['query' as const], ratios: [1], prompts: 2 };
  const again = [
    await client.call('calibration.run', request),
    await client.call('calibration.run', request),
  ];
  for (const { texts, prompts, points } of again) {
    expect({ texts, prompts }).toEqual({
      texts: { library: 'buildings', kind: 'topics' },
      prompts: 2,
    });
    expect(points[0]?.kl).toBeLessThan(1e-6);
  }
  expect(again[0]?.promptTokens).toBe(again[1]?.promptTokens);
});

test('stopping ends it soon', async () => {
  const { client, libraryId } = await readLibrary(app, { precompute: false });
  client.on('calibration.progress', () => void client.call('calibration.stop'));
  const running = client.call('calibration.run', { libraryId });
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
});
