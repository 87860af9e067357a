import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { ANSWER_MS, ask, blendByDeviation, QUESTION, startConversation, stripOf } from './support/chat.ts';
import { expect, test } from './support/test.ts';

/** Several full prefills and the analysis of every layer, on a busy machine. */
const COMPARE_MS = 4 * ANSWER_MS;

test('an answer is compared with other ways, kept, shown again and exported', async ({
  sharedWindow: window,
}) => {
  test.slow();
  await startConversation(window);
  await blendByDeviation(window);
  await ask(window, QUESTION);
  const comparison = await openComparison(window);
  await expect(comparison).toContainText(/at least [\d.]+ (ms|sec)|unknown/);
  await comparison.getByRole('checkbox', { name: 'Compare every layer' }).check();
  await comparison.getByRole('button', { name: 'Compare', exact: true }).click();
  const full = comparison.getByRole('article', { name: 'Full prefill' });
  await expect(full).toBeVisible({ timeout: COMPARE_MS });

  await expect(comparison.getByRole('article')).toHaveCount(4);
  const prefix = comparison.getByRole('article', { name: 'Prefix cache' });
  await expect(prefix).toContainText('The same text.');
  await expect(prefix).toContainText(/Same first token\s*yes/);
  await expect(comparison.getByRole('article', { name: 'Reuse everything' })).toContainText(/0 of [\d,]+/);
  await expect(comparison.getByText('this answer')).toHaveCount(1);

  for (const title of [
    'Every layer, token by token',
    'Attention of the question',
    'Effect of other ratios',
    'Concentration of deviation',
    'Agreement between layers',
  ]) {
    await expect(section(window, title).getByRole('application').first()).toBeVisible();
  }
  const heat = section(window, 'Every layer, token by token');
  await heat.getByRole('application').focus();
  for (const key of [']', 'ArrowDown', 'ArrowRight']) await window.keyboard.press(key);
  await expect(heat.getByRole('status')).toContainText(/Layer 1, Deviation of V/);

  const download = window.waitForEvent('download');
  await comparison.getByRole('button', { name: 'Export Comparison with other methods' }).click();
  await window.getByRole('menuitem', { name: 'Numbers (CSV)' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8');
  expect(csv.trim().split('\n').length).toBeGreaterThanOrEqual(5);

  await window.reload();
  await openComparison(window);
  await expect(full).toBeVisible();
});

test('a comparison can be stopped, and nothing is kept of it', async ({ sharedWindow: window }) => {
  await startConversation(window);
  await blendByDeviation(window);
  await ask(window, QUESTION);
  const comparison = await openComparison(window);
  for (const box of await comparison.getByRole('checkbox', { disabled: false }).all()) await box.check();
  await startAndStop(comparison);
  await expect(comparison.getByRole('button', { name: 'Compare', exact: true })).toBeVisible({
    timeout: ANSWER_MS,
  });
  await expect(comparison.getByRole('article')).toHaveCount(0);
});

/** Runs in the page: on a fast machine the comparison would finish before Playwright reached the next button. */
async function startAndStop(comparison: Locator): Promise<void> {
  await comparison.evaluate(async (section) => {
    const button = (name: string) =>
      [...section.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === name);
    const offered = new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        if (!button('Cancel')) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(section, { childList: true, subtree: true });
    });
    button('Compare')?.click();
    await offered;
    button('Cancel')?.click();
  });
}

/** Opens the last answer's report at its comparison. */
async function openComparison(window: Page): Promise<Locator> {
  // Without the line below the answer there is no report to open by keyboard yet.
  await expect(stripOf(window).last()).toBeVisible();
  await window.keyboard.press('Control+.');
  await window.getByRole('button', { name: 'Compare with other methods' }).click();
  return section(window, 'Comparison with other methods');
}

function section(window: Page, title: string): Locator {
  return window.getByRole('region', { name: title, exact: true });
}
