import type { Locator, Page } from '@playwright/test';
import { expect, goTo } from './test.ts';

export function chatModels(window: Page): Locator {
  return window.getByRole('region', { name: 'Chat models' });
}

/** Imports a local model file; the test checks whether the app accepts it. */
export async function importModel(window: Page, path: string): Promise<void> {
  await goTo(window, 'Models');
  await window.getByRole('button', { name: 'Import', exact: true }).click();
  await window.getByRole('menuitem', { name: 'From a path…' }).click();
  await window.getByLabel('Path of a .gguf file on this machine').fill(path);
  await window.keyboard.press('Enter');
}

/** Activates the only imported model, and waits for it. */
export async function useImported(window: Page): Promise<void> {
  const models = chatModels(window);
  await models.getByRole('button', { name: 'Use', exact: true }).click();
  await expect(window.getByRole('dialog')).toContainText('Caches of the current model are kept');
  await window.getByRole('button', { name: 'Use this model' }).click();
  await expect(models.locator('[data-active]')).toContainText('Imported');
}

/** Expands the measurements of blending on the Models screen. */
export async function showQuality(window: Page): Promise<void> {
  await goTo(window, 'Models');
  const fold = window.getByRole('button', { name: 'Blending quality' });
  if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click();
}
