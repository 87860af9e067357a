/** A model's first use: the app measures it automatically and answers questions meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { App } from '../src-main/app.ts';

/** Time for a calibration on a machine with other load. */
const WAIT_MS = 400_000;

test("a first start measures the model's costs, and calibrates it once the library is ready", async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-first-use-'));
  const app = await App.open({ dataDir: dir });
  onTestFinished(async () => {
    await app.close();
    rmSync(dir, { recursive: true, force: true });
  });
  app.start();
  const { model } = await app.localModels.current();
  await expect.poll(() => app.planner.costs.knows(model.info, 'disk'), { timeout: WAIT_MS }).toBe(true);
  const { id } = app.chat.create({ scope: { libraryIds: [], documentIds: [] } });
  const { answerId } = app.chat.send(id, 'Where was Mara born?');
  await app.chat.idle();
  app.chat.regenerate(id, answerId, { mayGuess: true }); // possibly no document is ready yet
  await app.chat.idle();
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'done' });
  await expect
    .poll(() => app.calibration.of(model, 'headings') !== undefined, { timeout: WAIT_MS, interval: 200 })
    .toBe(true);
  expect(app.calibration.of(model, 'headings')?.texts.kind).toBe('questions');
  expect(app.settings.current.strategy.name).toBe('auto');
});
