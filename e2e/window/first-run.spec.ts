import type { Download } from '@playwright/test';
import {
  answers,
  ANSWER_MS,
  ask,
  blendByDeviation,
  QUESTION,
  sourcesOf,
  startConversation,
  stripOf,
  unfold,
} from './support/chat.ts';
import { COMPUTED_MS, expect, test } from './support/test.ts';

test.describe('at the first start', () => {
  test.use({ fresh: true });

  test('the first screen explains itself, and the first answer is one click away', async ({ window }) => {
    await expect(
      window.getByRole('heading', { name: 'Ask your documents. Get the first word sooner.' }),
    ).toBeVisible();
    const ready = window.getByRole('list', { name: 'What is ready' });
    await expect(ready).toContainText('66 documents, ready for questions', { timeout: COMPUTED_MS });
    await expect(ready).toContainText('Everything is precomputed', { timeout: COMPUTED_MS });
    const suggestions = window.getByRole('region', { name: 'Ask one of these' }).getByRole('button');
    await expect(suggestions).toHaveCount(3);

    await suggestions.first().click();
    await unfold(answers(window));
    const strip = stripOf(answers(window));
    await expect(strip).toContainText('to the first token', { timeout: ANSWER_MS });
    await expect(strip).toContainText(/\d computed/);
    await expect(sourcesOf(answers(window))).not.toHaveCount(0);

    const next = window.getByText('That was the sample library. Now try your own documents.');
    await expect(next).toBeVisible();
    await window.getByRole('button', { name: 'Not now' }).click();
    await expect(next).toBeHidden();
    await window.reload();
    await expect(stripOf(window)).toBeVisible();
    await expect(next).toBeHidden();
  });
});

test.describe('with a cache that holds nothing', () => {
  test.use({ settings: { diskBudgetBytes: 0 } });

  test('the first screen says what is not in the cache, and waits for nothing', async ({ window }) => {
    const ready = window.getByRole('list', { name: 'What is ready' });
    await expect(ready).toContainText('0% done. The rest is not in the cache.');
    await expect(ready.locator('[class*=Loader]')).toHaveCount(0);
  });
});

test('the fusion panel shows where the time went, which tokens were recomputed, and exports it', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await blendByDeviation(window);
  await ask(window, QUESTION);
  await window.getByRole('button', { name: 'Details' }).click();
  const panel = window.getByRole('complementary', { name: 'Fusion report' });
  await expect(panel).toContainText('were recomputed because their values changed most in this context');
  for (const title of ['Where the time went', 'The prompt, token by token']) {
    await expect(panel.getByRole('heading', { name: title })).toBeVisible();
  }
  await panel.getByRole('button', { name: 'Export', exact: true }).click();
  const download = window.waitForEvent('download');
  await window.getByRole('menuitem', { name: 'Report (JSON)' }).click();
  const report = JSON.parse((await bytesOf(await download)).toString('utf8')) as {
    promptTokens: number;
    recomputedTokens: number;
    tokens: string[];
    checks: { selected: number[] }[];
  };
  expect(report.tokens).toHaveLength(report.promptTokens);
  expect(report.checks.at(-1)?.selected).toHaveLength(report.recomputedTokens);
  expect(report.recomputedTokens).toBeGreaterThan(0);

  await test.step('pictures are saved, or shown as tables', async () => {
    for (const [menu, item] of [
      ['Export', 'All pictures (PNG)'],
      ['Export Where the time went', 'Picture (PNG)'],
    ] as const) {
      await panel.getByRole('button', { name: menu, exact: true }).click();
      const picture = window.waitForEvent('download');
      await window.getByRole('menuitem', { name: item }).click();
      expect((await bytesOf(await picture)).subarray(1, 4).toString('latin1')).toBe('PNG');
    }
    await panel.getByRole('button', { name: 'Where the time went: Show as table' }).click();
    await expect(panel.getByRole('table').first()).toContainText('Search');
    await panel.getByRole('button', { name: 'Where the time went: Show as picture' }).click();
  });
  await test.step('the prompt is shaded otherwise, and copied', async () => {
    const shades = panel.getByRole('radiogroup', { name: 'Shades' }).first(); // of the tokens; the layers have another
    await shades.getByText('Linear').click();
    await expect(shades.getByRole('radio', { name: 'Linear' })).toBeChecked();
    await shades.getByText('Logarithmic').click();
    await window.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.getByRole('button', { name: 'Copy the prompt' }).click();
    await expect.poll(() => window.evaluate(() => navigator.clipboard.readText())).toContain(QUESTION);
  });
  await test.step('the report gets another width', async () => {
    const edge = panel.getByRole('separator', { name: 'Width of the report' });
    const width = async (): Promise<number> => (await panel.boundingBox())?.width ?? 0;
    const before = await width();
    await edge.press('ArrowLeft');
    await expect.poll(width).toBeGreaterThan(before);
    await panel.getByRole('button', { name: 'Full width' }).click();
    await expect(edge).toBeHidden();
    await panel.getByRole('button', { name: 'Beside the conversation' }).click();
    await panel.getByRole('heading').first().hover(); // Escape closes a tooltip first
  });

  await expect(window.getByRole('menu')).toBeHidden(); // it handles Escape itself
  await window.keyboard.press('Escape');
  await expect(panel).toBeHidden();
});

test.describe('with several check layers', () => {
  test.use({ settings: { strategy: { name: 'deviation', ratio: 0.15, checkLayers: [1, 3] } } });

  test('the fusion panel shows the tokens by the check that is chosen', async ({ sharedWindow: window }) => {
    await startConversation(window);
    await ask(window, QUESTION);
    await window.getByRole('button', { name: 'Details' }).click();
    const panel = window.getByRole('complementary', { name: 'Fusion report' });
    const check = panel.getByRole('radiogroup', { name: 'Check' }).first();
    await check.getByText('Layer 1').click();
    await expect(panel).toContainText('the more its values at layer 1 differ from the stored ones');
    await check.getByText('Layer 3').click();
    await expect(panel).toContainText('the more its values at layer 3 differ from the stored ones');
  });
});

test('a full prefill can be measured in place of the estimate', async ({ sharedWindow: window }) => {
  await startConversation(window);
  await blendByDeviation(window);
  const strip = stripOf(await ask(window, QUESTION));
  await strip.getByRole('button', { name: /Measure the full prefill/ }).click();
  await expect(strip).toContainText(/instead of \d/);
});

async function bytesOf(download: Download): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
