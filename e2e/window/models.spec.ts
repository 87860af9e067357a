import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { chatModels, importModel, useImported } from './support/models.ts';
import { expect, test } from './support/test.ts';

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

  await useImported(window);
  await expect(chatModels(window).getByText('In use')).toHaveCount(1);
});

test('a truncated model is refused with a reason, and the demo model goes on', async ({
  window,
  dataDir,
}) => {
  const whole = readFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7 }));
  const path = join(dataDir, 'cut.gguf');
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  await importModel(window, path);
  await expect(window.getByRole('alert')).toContainText(/cut\.gguf/);
  await window.keyboard.press('Escape');
  await expect(chatModels(window)).toContainText('In use');
});
