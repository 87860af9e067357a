import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { copyDemo } from '../../tools/faults/own-model.ts';
import { randomAdapter, randomModel } from '../../tools/random-model/random-model.ts';
import { FAMILIES, vocabularyFile, type Family } from '../support/vocabularies.ts';
import { answers, ANSWER_MS, ask, QUESTION, startConversation } from './support/chat.ts';
import { addByPath, createLibrary, dropInto, libraryDone } from './support/library.ts';
import { chatModels, importModel, showQuality, useImported } from './support/models.ts';
import { call, expect, goTo, NO_BACKGROUND_WORK, test } from './support/test.ts';

test('a truncated model is refused with a reason, and the demo model goes on', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const whole = readFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7 }));
  const path = join(folder.path, 'cut.gguf');
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  await importModel(window, path);
  await expect(window.getByRole('alert')).toContainText(/cut\.gguf/);
  await window.keyboard.press('Escape');
  await expect(chatModels(window)).toContainText('In use');
  folder.remove();
});

test('a dropped model is imported, shown by its file where its header has an odd name, and measured', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'harbour-7b.gguf');
  copyFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7, name: 'model' }), path);
  await goTo(window, 'Models');
  const models = chatModels(window);
  await expect(models).toContainText('In use');
  await dropInto(window, [path]);
  await expect(window.getByText(/was imported/)).toBeVisible();
  await expect(models.getByText('harbour-7b', { exact: true })).toBeVisible();
  await expect(models).toContainText('A base model, not one for chat');

  await test.step('blending is measured with the model in use, and stopped', async () => {
    await showQuality(window);
    const card = window.getByRole('region', { name: /tolerate blending\?/ });
    await expect(card.getByRole('application').first()).toBeVisible();
    await card.getByRole('button', { name: 'Numbers' }).click();
    await expect(card.getByRole('table')).toContainText('Of a full prefill');
    await card.getByRole('button', { name: 'Measure again' }).click();
    await expect(card.getByRole('progressbar', { name: 'Measuring' })).toBeVisible();
    await card.getByRole('button', { name: 'Stop' }).click();
    await expect(card.getByRole('button', { name: 'Measure again' })).toBeEnabled();
  });
  folder.remove();
});

test('an embedding model that nobody knows gets the prefixes that are entered, and none again', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vectors.gguf');
  copyFileSync(randomModel({ arch: 'bert', pooling: 1, context: 64 }), path);
  await importModel(window, path);
  const models = window.getByRole('region', { name: 'Embedding models' });
  const open = async (): Promise<void> => {
    await models.getByRole('button', { name: /^More:/ }).click();
    await window.getByRole('menuitem', { name: 'Prefixes…' }).click();
  };
  await expect(models).toContainText('does not know this model’s prefixes');
  await expect(models).toContainText('first 64 tokens of a passage');

  await open();
  await window.getByLabel('Before questions:').fill('query: ');
  await window.getByLabel('Before passages:').fill('passage: ');
  await window.getByRole('button', { name: 'Save' }).click();
  await expect(models).toContainText(
    'With your prefixes. Before questions: query: Before passages: passage: ',
  );

  await open();
  await window.getByRole('button', { name: 'No prefixes' }).click();
  await expect(models).toContainText('does not know this model’s prefixes');
  folder.remove();
});

test.describe('a model in use', () => {
  test.use({ settings: NO_BACKGROUND_WORK });

  test('a model is imported and taken into use', async ({ window, dataDir }) => {
    const path = join(dataDir, 'small-random.gguf');
    copyFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7 }), path);
    await importModel(window, path);
    await expect(window.getByText(/was imported/)).toBeVisible();

    await test.step('it is shown under the name that it is given, and under its own again', async () => {
      for (const [name, shown] of [
        ['Small one', 'Small one'],
        ['', 'random llama'],
      ] as const) {
        await chatModels(window)
          .getByRole('button', { name: /^More: (random llama|Small one)/ })
          .click();
        await window.getByRole('menuitem', { name: 'Rename…' }).click();
        await window.getByRole('textbox', { name: 'Name' }).fill(name);
        await window.keyboard.press('Enter');
        await expect(window.getByRole('dialog')).toHaveCount(0);
        await expect(chatModels(window).getByText(shown, { exact: true })).toBeVisible();
      }
    });

    await test.step('its file’s header is shown, and sampling is set for it', async () => {
      const card = chatModels(window).getByRole('button', { name: /^More: random llama/ });
      await card.click();
      await window.getByRole('menuitem', { name: 'Details' }).click();
      const dialog = window.getByRole('dialog');
      await expect(dialog.getByRole('row', { name: /llama/ }).first()).toBeVisible();
      await expect(dialog.getByRole('heading', { name: 'Tensors by type' })).toBeVisible();
      await expect(dialog).toContainText(path);
      await window.keyboard.press('Escape');
      await expect(dialog).toHaveCount(0);
      await card.click();
      await window.getByRole('menuitem', { name: 'Sampling…' }).click();
      await dialog.getByRole('textbox', { name: 'Temperature' }).fill('0.5');
      await dialog.getByRole('textbox', { name: 'Top-k' }).fill('20');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect(dialog).toHaveCount(0);
      const { sampling } = (await call(window, 'settings.get', {})) as { sampling: object };
      expect(sampling).toEqual({ [path]: { temperature: 0.5, topK: 20 } });
    });

    await useImported(window);
    await expect(chatModels(window).getByText('In use')).toHaveCount(1);
  });

  test('an adapter is put on a model, shown, and taken off; one for another model is refused', async ({
    window,
    dataDir,
  }) => {
    const model = { layers: 2, seed: 7 };
    const path = join(dataDir, 'mine.gguf');
    copyFileSync(randomModel({ arch: 'llama', ...model }), path);
    const law = join(dataDir, 'law.gguf');
    copyFileSync(randomAdapter(randomModel({ arch: 'llama', ...model })), law);
    const other = randomAdapter(randomModel({ arch: 'qwen2', ...model }));
    await importModel(window, path);
    await useImported(window);
    const active = chatModels(window).locator('[data-active]');
    const choose = async (item: string): Promise<void> => {
      await active.getByRole('button', { name: /^More:/ }).click();
      await window.getByRole('menuitem', { name: item }).click();
    };

    await choose('Add a LoRA adapter…');
    const dialog = window.getByRole('dialog');
    await expect(dialog).toContainText('recomputes your passages with it');
    const file = dialog.getByLabel('Path of the adapter’s .gguf file on this machine');
    await file.fill(other);
    await window.keyboard.press('Enter');
    await expect(dialog.getByRole('alert')).toContainText('was made for another model');
    await file.fill(law);
    await window.keyboard.press('Enter');
    await expect(active).toContainText('With the adapter law.gguf');
    await expect(dialog).toHaveCount(0);

    await choose('Remove the adapter');
    await expect(active).not.toContainText('law.gguf');
  });

  test('a model in use shows the marks of its template that its vocabulary lacks', async ({
    window,
    dataDir,
  }) => {
    const family = { ...(FAMILIES['gemma 3'] as Family), userDefined: [] };
    await importModel(window, vocabularyFile(join(dataDir, 'lost-marks.gguf'), family));
    await useImported(window);
    await expect(chatModels(window)).toContainText('marks turns with <end_of_turn>, <start_of_turn>.');
  });
});

test.describe('a model whose file is written to while it is in use', () => {
  test.use({ settings: { chunkTokens: 96, threads: 1 } });

  test('is loaded again wherever its change is reported, and from its menu', async ({ window, dataDir }) => {
    const path = join(dataDir, 'mine.gguf');
    copyDemo(path);
    await importModel(window, path);
    await useImported(window);
    await startConversation(window);
    await ask(window, QUESTION);
    const answer = answers(window).last();

    await test.step('the answer that could not be made offers it', async () => {
      rewrite(path);
      await regenerate(window);
      const failure = answer.getByRole('alert');
      await expect(failure).toContainText('mine.gguf, was changed while it is in use');
      await failure.getByRole('button', { name: 'Reload the model' }).click();
      await expect(failure).toContainText('The model was reloaded.');
      await failure.getByRole('button', { name: 'Try again' }).click();
      await expect(answer.getByText('runs in Riga')).toBeVisible({ timeout: ANSWER_MS });
    });

    await test.step("so does the model's menu", async () => {
      rewrite(path);
      await regenerate(window);
      await expect(answer.getByRole('alert')).toBeVisible();
      await goTo(window, 'Models');
      const active = chatModels(window).locator('[data-active]');
      await active.getByRole('button', { name: /^More:/ }).click();
      await window.getByRole('menuitem', { name: 'Reload' }).click();
      await expect(window.getByText('The model was reloaded.')).toBeVisible();
      await window.goBack();
      await answer.getByRole('button', { name: 'Try again' }).click();
      await expect(answer.getByText('runs in Riga')).toBeVisible({ timeout: ANSWER_MS });
    });

    await test.step('and the queue, which goes on then', async () => {
      rewrite(path);
      const text = join(dataDir, 'mill.txt');
      writeFileSync(text, 'The mill by the river has a new wheel.');
      await createLibrary(window, 'Mills');
      await addByPath(window, [text]);
      const queue = window.getByRole('region', { name: 'Queue' });
      await expect(queue).toContainText('The queue has stopped');
      await queue.getByRole('button', { name: 'Reload the model' }).click();
      await libraryDone(window, 'Mills', 1);
    });
  });
});

/** Writes the same bytes again. */
function rewrite(path: string): void {
  const bytes = readFileSync(path);
  const file = openSync(path, 'r+');
  writeSync(file, bytes);
  closeSync(file);
}

/** Regenerates the last answer. */
async function regenerate(window: Page): Promise<void> {
  await answers(window).last().getByRole('button', { name: 'Answer again' }).click();
}
