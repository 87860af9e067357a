import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CacheStats } from '../../src-shared/contract/cache.ts';
import { changingReplies } from './support/replies.ts';
import { call, expect, goTo, homeOf, test } from './support/test.ts';

const DEVICE = { chunks: 12, bytes: 3e8, budgetBytes: 2e9, automatic: true, totalBytes: 8e9 };

test('a lower budget asks once, and is given up at once', async ({ sharedWindow: window }) => {
  await goTo(window, 'Cache');
  const field = window.getByRole('textbox', { name: 'Budget on disk' });
  const before = await field.inputValue();
  await field.fill('0.01');
  await field.press('Enter');
  const dialog = window.getByRole('dialog', { name: 'Lower the disk budget?' });
  await expect(dialog).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(window.getByRole('dialog')).toHaveCount(0);
  await expect(field).toHaveValue(before);

  await test.step('a document is pinned and unpinned', async () => {
    const pinned = async () => ((await call(window, 'cache.stats', {})) as CacheStats).pinnedChunks;
    const pin = window.getByRole('button', { name: /^Pin / }).first();
    await pin.click();
    await expect(pin).toHaveAttribute('aria-pressed', 'true');
    expect(await pinned()).toBeGreaterThan(0);
    await pin.click();
    await expect(pin).toHaveAttribute('aria-pressed', 'false');
    expect(await pinned()).toBe(0);
  });
});

test('a budget for the disk is proposed until one is set, and taken with one click', async ({
  sharedWindow,
}) => {
  const window = await sharedWindow.context().newPage();
  const calls = await changingReplies<CacheStats>(window, 'cache.stats', (stats) => ({
    ...stats,
    proposal: stats.diskBudgetBytes === 30e9 ? null : { bytes: 30e9 },
  }));
  await window.goto(homeOf(sharedWindow));
  await goTo(window, 'Cache');
  await expect(window.getByText('Proposed for this disk: 30 GB')).toBeVisible();
  const take = window.getByRole('button', { name: 'Use the proposed budget' });
  await take.click();
  const changes = () => calls.filter(({ name }) => name === 'settings.update').map(({ input }) => input);
  await expect.poll(changes).toEqual([{ diskBudgetBytes: 30e9 }]);
  await expect(take).toHaveCount(0);
  await expect(window.getByRole('textbox', { name: 'Budget on disk' })).toHaveValue('30 GB');
  await call(window, 'settings.update', { diskBudgetBytes: null });
});

test('a folder for chunks is added, shown with its speed, and removed', async ({ sharedWindow: window }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kvasir-folder-'));
  try {
    await goTo(window, 'Cache');
    await window.getByRole('button', { name: 'Add a folder…' }).click();
    const dialog = window.getByRole('dialog', { name: 'Add a folder' });
    await dialog.getByRole('textbox', { name: 'Folder' }).fill(folder);
    await dialog.getByRole('textbox', { name: 'Budget' }).fill('2');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(window.getByText(folder, { exact: true })).toBeVisible();
    await expect(window.getByText(/read at .*\/s/).last()).toBeVisible();
    await expect(window.getByText(/^New chunks go to the data folder/)).toBeVisible();
    await window.getByRole('button', { name: `Remove ${folder}` }).click();
    const ask = window.getByRole('dialog', { name: `Remove ${folder}?` });
    await expect(ask.getByText('Nothing is stored there.')).toBeVisible();
    await ask.getByRole('button', { name: 'Remove', exact: true }).click();
    await expect(window.getByText(folder, { exact: true })).toHaveCount(0);
    await expect.poll(() => readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('what is kept on the GPU has a budget, which can be left to Kvasir again', async ({ sharedWindow }) => {
  const window = await sharedWindow.context().newPage();
  let automatic = true;
  const calls = await changingReplies<CacheStats>(window, 'cache.stats', (stats) => ({
    ...stats,
    device: { ...DEVICE, automatic },
  }));
  await window.goto(homeOf(sharedWindow));
  await goTo(window, 'Cache');
  await expect(window.getByText('300 MB of 2 GB')).toBeVisible();
  await expect(window.getByText('The budget adapts to the free GPU memory.')).toBeVisible();
  const field = window.getByRole('textbox', { name: 'Budget on the GPU' });
  automatic = false;
  await field.fill('4');
  await field.press('Enter');
  await window.getByRole('button', { name: 'Choose automatically' }).click();
  const changes = () => calls.filter(({ name }) => name === 'settings.update').map(({ input }) => input);
  await expect.poll(changes).toEqual([{ deviceBudgetBytes: 4e9 }, { deviceBudgetBytes: null }]);
});

test('without a GPU nothing is said of one', async ({ sharedWindow: window }) => {
  await goTo(window, 'Cache');
  await expect(window.getByRole('textbox', { name: 'Budget in memory' })).toBeVisible();
  await expect(window.getByRole('textbox', { name: 'Budget on the GPU' })).toHaveCount(0);
});
