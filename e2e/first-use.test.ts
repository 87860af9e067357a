/** A model that was never used here: the app measures it by itself, and questions meanwhile are answered. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { App } from '../src-main/app.ts';

/** A calibration, on a machine that does other things too. */
const WAIT_MS = 400_000;

test('a first start learns what the model costs, and calibrates it once the library is ready', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-first-use-'));
  const app = await App.open({ dataDir: dir });
  onTestFinished(async () => {
    await app.close();
    rmSync(dir, { recursive: true, force: true });
  });
  app.start();
  const { model } = await app.models.current();
  await expect.poll(() => app.planner.costs.knows(model.info, 'disk'), { timeout: WAIT_MS }).toBe(true);
  const { id } = app.chat.create({ scope: { libraryIds: [], documentIds: [] } });
  const { answerId } = app.chat.send(id, 'Where was Mara born?');
  await app.chat.idle();
  app.chat.regenerate(id, answerId, { mayGuess: true }); // no document may be ready yet
  await app.chat.idle();
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'done' });
  await expect
    .poll(() => app.calibration.of(model, 'headings') !== undefined, { timeout: WAIT_MS, interval: 200 })
    .toBe(true);
  expect(app.calibration.of(model, 'headings')?.texts.kind).toBe('questions');
  expect(app.settings.current.strategy.name).toBe('auto');
});
