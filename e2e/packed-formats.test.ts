/** Chunks in 4 bits with the real engine and the demo model: offered by what its calibration measured, and converted from f16. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { App } from '../src-main/app.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

let dir: string;
let app: App;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-packed-'));
  app = await App.open({ dataDir: await readyData(join(dir, 'data')) });
  app.start();
  await app.localModels.current();
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

test('formats that the demo model passed are offered, and f16 chunks are converted to one', async () => {
  const held = (dtype: string) =>
    app.store.totals().find((kind) => kind.kind === 'chunk' && kind.dtype === dtype);
  const { formats } = await app.cache.stats();
  for (const { loss, offered } of formats.slice(2))
    expect(offered).toBe((loss?.klHigh ?? 1) <= 0.01 && (loss?.agreementHigh ?? 0) >= 0.97);
  const smallest = formats.findLast(({ offered }) => offered);
  expect(smallest?.dtype).toMatch(/k8v4|q4/);
  const dtype = smallest?.dtype ?? 'q4';
  const before = held('f16');
  app.settings.update({ dtype });
  await vi.waitUntil(() => held(dtype)?.entries === before?.entries, { timeout: 60_000, interval: 100 });
  // Chunks of the sample library are shorter than 512 tokens, and files have a header.
  expect((held(dtype)?.bytes ?? 0) / (before?.bytes ?? 0)).toBeLessThan(dtype === 'q4' ? 0.45 : 0.5);

  const { message } = await readLibrary(app);
  const { stats } = await message({
    question: 'Where was Mara born?',
    strategy: { name: 'none', ratio: 0 },
  });
  expect(stats?.reusedTokens).toBeGreaterThan((stats?.promptTokens ?? 0) / 2);
});
