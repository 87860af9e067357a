/** Answer monitoring with the real engine, the demo model and the sample library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CompareRequestSchema } from '../src-shared/contract/chat.ts';
import { App } from '../src-main/app.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

const SCOPE = { scope: { libraryIds: [], documentIds: [] } };

test('a repeated answer has the same deviation from its full prefill as a comparison, and leaves nothing behind', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-watching-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const app = await App.open({ dataDir: await readyData(dir) });
  onTestFinished(() => app.close());
  await readLibrary(app);
  await app.loader.current();

  const { id } = app.chat.create(SCOPE);
  const { answerId } = app.chat.send(id, 'Where does Project Polaris run?');
  await app.chat.idle();
  expect(app.chat.remade.blended(answerId)).toMatchObject({ libraryIds: [expect.any(String)] });
  const conversation = app.chat.get(id);
  const entries = app.store.stats().entries;
  const again = () => app.chat.remade.remake(answerId, new AbortController().signal);
  const drift = await again();
  const compared = await app.chat.comparisons.run(CompareRequestSchema.parse({ answerId }));
  const own = compared.methods.find(({ answered }) => answered);
  expect(own?.kl).toBeGreaterThan(0);
  expect(drift?.ratio).toBe(own?.strategy.ratio);
  expect(drift?.kl).toBeGreaterThan(0);
  // If both texts are equal, the full prefill would have chosen each token.
  if (own?.answerF1 === 1) expect(drift?.agreement).toBe(1);
  else expect(drift?.agreement).toBeLessThan(1);
  expect(await again()).toEqual(drift);
  expect(app.chat.get(id)).toEqual(conversation);
  expect(app.store.stats().entries).toBe(entries);

  const stopped = AbortSignal.abort();
  await expect(app.chat.remade.remake(answerId, stopped)).rejects.toMatchObject({ code: 'ABORTED' });
});
