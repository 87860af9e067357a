/** A model's first use: the app measures it automatically and answers questions meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { readyData } from './support/ready-data.ts';

/** Time for measuring on a machine with other load. */
const WAIT_MS = 400_000;

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-first-use-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("a first start measures the model's costs, and answers", async () => {
  const app = await App.open({ dataDir: dataDir() });
  onTestFinished(() => app.close());
  app.start();
  const { model } = await app.localModels.current();
  await expect.poll(() => app.planner.costs.knows(model.info, 'disk'), { timeout: WAIT_MS }).toBe(true);
  const { id } = app.chat.create({ scope: { libraryIds: [], documentIds: [] } });
  const { answerId } = app.chat.send(id, 'Where was Mara born?');
  await app.chat.idle();
  app.chat.regenerate(id, answerId, { mayGuess: true }); // possibly no document is ready yet
  await app.chat.idle();
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'done' });
});

test('it calibrates the model once the library is ready', async () => {
  const app = await App.open({ dataDir: await readyData(dataDir()) }); // of a first start, until then
  onTestFinished(() => app.close());
  const { model } = await app.localModels.current();
  expect(app.calibration.of(model, 'headings')?.texts.kind).toBe('questions');
  expect(app.settings.current.strategy.name).toBe('auto');
});
