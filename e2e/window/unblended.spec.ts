/** A model that libllama runs: it is activated and answers, and the window explains why it does not blend. */
import { otherModel } from '../../tools/random-model/other-models.ts';
import { ask, QUESTION, sourcesOf, startConversation, stripOf } from './support/chat.ts';
import { chatModels, importModel, showQuality, useImported } from './support/models.ts';
import { expect, test } from './support/test.ts';

const WHY =
  'Random mamba keeps a recurrent state instead of a KV cache. Kvasir cannot blend its passages yet.';

test.use({ settings: { chunkTokens: 96, threads: 1, maxTokens: 12 } });

test('a model with a running state answers, and the window says why nothing is blended', async ({
  window,
  dataDir,
}) => {
  await importModel(window, otherModel('mamba', dataDir));
  const before = window.getByRole('dialog', { name: 'Import Random mamba?' });
  await expect(before).toContainText(WHY);
  await before.getByRole('button', { name: 'Import' }).click();
  await expect(chatModels(window).getByText(WHY)).toBeVisible();
  await useImported(window);
  await showQuality(window);
  await expect(window.getByRole('region', { name: /Random mamba/ }).getByText(WHY)).toBeVisible();

  await startConversation(window);
  const answer = await ask(window, QUESTION);
  await expect(sourcesOf(answer).first()).toBeVisible();
  await stripOf(answer).getByRole('button', { name: 'Details' }).click();
  const panel = window.getByRole('region', { name: 'How this answer was made' });
  await expect(panel.getByText(WHY)).toBeVisible();
  await expect(panel.getByRole('button', { name: /Compare/ })).toHaveCount(0);
});
