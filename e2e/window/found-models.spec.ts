import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { randomModel, splitModel } from '../../tools/random-model/random-model.ts';
import { temporaryFolder } from './support/app.ts';
import { violationsIn } from './support/axe.ts';
import { chatModels } from './support/models.ts';
import { OtherPrograms, stateOf } from './support/other-programs.ts';
import { expect, goTo, NO_BACKGROUND_WORK, test as base } from './support/test.ts';

const LLAMA = { arch: 'llama', layers: 2, seed: 21 };
const QWEN = { arch: 'qwen3', layers: 2, seed: 22 };

const test = base.extend({
  settings: NO_BACKGROUND_WORK,
  modelsHome: async ({}, use) => {
    const folder = temporaryFolder();
    const programs = new OtherPrograms(folder.path);
    programs.ollama('qwen3', '4b', randomModel(QWEN));
    programs.lmStudio('ada/Tiny-Llama-GGUF', randomModel(LLAMA), 'Tiny-Llama-F16');
    await use(folder.path);
    folder.remove();
  },
});

const offered = (window: Page): Locator =>
  window.getByRole('region', { name: 'Or use a model you already have' });
const ofOthers = (window: Page): Locator => window.getByRole('region', { name: 'Models from other apps' });

/** All files of a folder with their contents. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map(stateOf);
}

test('the first screen lists what LM Studio and Ollama have, and a click uses it where it lies', async ({
  window,
  modelsHome,
}) => {
  const before = filesIn(modelsHome);
  const began = performance.now();
  const qwen = offered(window).getByRole('listitem', { name: 'qwen3:4b' });
  const llama = offered(window).getByRole('listitem', { name: 'Tiny-Llama-F16' });
  await expect(qwen).toContainText('Ollama');
  await expect(llama).toContainText('LM Studio');
  const after = `${Math.round(performance.now() - began)} ms`;
  test.info().annotations.push({ type: 'listed after the window was there', description: after });
  await expect(offered(window)).toContainText('Nothing is downloaded or copied');
  for (const each of [qwen, llama]) {
    await expect(each).toContainText('Fits this machine');
    await expect(each).toContainText('Blended');
  }

  await qwen.getByRole('button', { name: 'Use qwen3:4b' }).click();
  await expect(qwen).toContainText('In use');
  await expect(window.getByRole('list', { name: 'What is ready' })).toContainText('qwen3:4b is in use');
  expect(filesIn(modelsHome)).toEqual(before);

  await test.step('taking it off the list leaves the file, and says so', async () => {
    await goTo(window, 'Models');
    const active = chatModels(window).locator('[data-active]');
    await expect(active).toContainText('qwen3:4b');
    await active.getByRole('button', { name: /^More:/ }).click();
    await window.getByRole('menuitem', { name: 'Remove' }).click();
    const dialog = window.getByRole('dialog');
    await expect(dialog).toContainText('The file stays in place');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await expect(chatModels(window)).not.toContainText('qwen3:4b');
    await expect(ofOthers(window).getByRole('listitem', { name: 'qwen3:4b' })).toContainText('Use');
    expect(filesIn(modelsHome)).toEqual(before);
  });
});

test.describe('on the Models screen', () => {
  test.use({
    settings: { ...NO_BACKGROUND_WORK, welcomed: true },
    modelsHome: async ({}, use) => {
      const folder = temporaryFolder();
      const programs = new OtherPrograms(folder.path);
      const split = splitModel(randomModel(LLAMA), 3);
      programs.ollama('qwen3', '4b', randomModel(QWEN));
      programs.huggingFace('ada/Qwen3-GGUF', 'Qwen3-4B-F16.gguf', randomModel(QWEN));
      programs.lmStudio('ada/Whole', split, 'Whole');
      programs.lmStudio('ada/Lost', split, 'Lost', (name) => !name.includes('00002-of'));
      programs.lmStudio('ada/Vectors', randomModel({ arch: 'bert', pooling: 1 }), 'Vectors');
      programs.gpt4allBroken('half.gguf', randomModel({ ...LLAMA, layers: 3 }));
      await use(folder.path);
      folder.remove();
    },
  });

  test('models are looked for when asked; what cannot be used says why', async ({ window }) => {
    await goTo(window, 'Models');
    const section = ofOthers(window);
    await expect(section.getByRole('listitem')).toHaveCount(0);
    await section.getByRole('button', { name: 'Look for models on this machine' }).click();

    await expect(section.getByRole('button', { name: 'Look again' })).toBeEnabled();
    await expect(section.getByRole('listitem', { name: 'qwen3:4b' })).toContainText(
      'also in Hugging Face cache',
    );
    await expect(section.getByRole('listitem', { name: 'Vectors' })).toContainText('Embedding');
    await section.getByText('2 files that cannot be used').click();
    await expect(section.getByRole('listitem', { name: 'Lost' })).toContainText(
      'is split into 3 files, and Lost-00002-of-00003.gguf is missing',
    );
    await expect(section.getByRole('listitem', { name: 'half' })).toContainText('is not a usable GGUF model');
    for (const colorScheme of ['light', 'dark'] as const) {
      await window.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect.soft(await violationsIn(window), colorScheme).toEqual([]);
    }

    await test.step('a model in several files is used as one', async () => {
      await section.getByRole('button', { name: 'Use Whole' }).click();
      await expect(chatModels(window).locator('[data-active]')).toContainText('Whole');
    });
  });

  test('a folder that is named is looked through as well', async ({ window, modelsHome }) => {
    await goTo(window, 'Models');
    const section = ofOthers(window);
    await section.getByRole('button', { name: 'In a folder…' }).click();
    const dialog = window.getByRole('dialog');
    const field = dialog.getByLabel('Path of a folder on this machine');
    await field.fill(join(modelsHome, 'nowhere'));
    await window.keyboard.press('Enter');
    await expect(window.getByRole('alert')).toContainText('Folder not found:');
    await field.fill(join(modelsHome, '.lmstudio', 'models', 'ada', 'Whole'));
    await window.keyboard.press('Enter');
    await expect(dialog).toHaveCount(0);
    await expect(section.getByRole('listitem', { name: 'Whole' })).toContainText('Chosen folder');
  });
});
