import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { expect, goTo, test } from './support/test.ts';

test('a model is imported and taken into use', async ({ window, dataDir }) => {
  const path = join(dataDir, 'small-random.gguf');
  copyFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7 }), path);
  await goTo(window, 'Models');
  await window.getByRole('button', { name: 'Import a GGUF…' }).click();
  await window.getByRole('menuitem', { name: 'By its path' }).click();
  await window.getByLabel('Path of a .gguf file on this machine').fill(path);
  await window.keyboard.press('Enter');
  await expect(window.getByText(/is imported/)).toBeVisible();

  const models = window.getByRole('region', { name: 'Models that answer' });
  await models.getByRole('button', { name: 'Use', exact: true }).click();
  await expect(window.getByRole('dialog')).toContainText('Caches of the present model are kept');
  await window.getByRole('button', { name: 'Use this model' }).click();
  await expect(models.getByRole('button', { name: 'Use', exact: true })).toHaveCount(1);
  await expect(models.getByText('In use')).toHaveCount(1);
});

test('a truncated model is refused with a reason, and the demo model goes on', async ({
  window,
  dataDir,
}) => {
  const whole = readFileSync(randomModel({ arch: 'llama', layers: 2, seed: 7 }));
  const path = join(dataDir, 'cut.gguf');
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  await goTo(window, 'Models');
  await window.getByRole('button', { name: 'Import a GGUF…' }).click();
  await window.getByRole('menuitem', { name: 'By its path' }).click();
  await window.getByLabel('Path of a .gguf file on this machine').fill(path);
  await window.keyboard.press('Enter');
  await expect(window.getByRole('alert')).toContainText(/cut\.gguf/);
  await window.keyboard.press('Escape');
  await expect(window.getByRole('region', { name: 'Models that answer' })).toContainText('In use');
});
