import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import type { TestHub } from '../../src-main/testing/hub-server.ts';
import { violationsIn } from './support/axe.ts';
import { answers, ANSWER_MS, stripOf } from './support/chat.ts';
import { openHub } from './support/hub.ts';
import { chatModels } from './support/models.ts';
import { COMPUTED_MS, expect, goTo, test as base } from './support/test.ts';

const test = base.extend<{ hub: TestHub; welcomed: boolean }>({
  hub: async ({}, use) => {
    const hub = await openHub();
    await use(hub);
    hub.close();
  },
  welcomed: [true, { option: true }],
  settings: async ({ hub, welcomed }, use) => {
    // Suits the demo model under any name, so its chunks are already cached.
    await use({ hubAddress: hub.address, welcomed, chunkTokens: 96 });
  },
});

const row = (window: Page, name: string): Locator => window.getByRole('listitem', { name, exact: true });

async function discover(window: Page): Promise<void> {
  await goTo(window, 'Models');
  await window.getByRole('tab', { name: 'Discover' }).click();
}

const IMPACTS = ['minor', 'moderate', 'serious', 'critical'];

async function search(window: Page, words: string): Promise<void> {
  const field = window.getByRole('textbox', { name: /^Search 127\.0\.0\.1/ });
  await field.fill(words);
  await field.press('Enter');
}

test('from the Models screen to an answer by a downloaded model in four clicks', async ({
  sharedWindow: window,
  hub,
}) => {
  await goTo(window, 'Models');
  expect(hub.seen).toEqual([]); // no request has been made yet
  let clicks = 0;
  const click = async (what: Locator): Promise<void> => {
    clicks++;
    await what.click();
  };
  await click(window.getByRole('tab', { name: 'Discover' }));
  await search(window, 'tiny');
  await click(window.getByRole('link', { name: 'ada/Tiny-GGUF' }));

  const usual = row(window, 'Q4_K_M');
  await expect(usual).toContainText('Recommended');
  await expect(usual).toContainText('The largest that fits well here, up to 8 bits.');
  await expect(usual).toContainText('Fits this machine');
  await expect(row(window, 'F16')).toContainText('2 files');
  await expect(window.getByText('1 file that is not a model by itself')).toBeVisible();
  await expect(window.getByText('Licence: apache-2.0')).toBeVisible();
  await expect(window.getByText('Blended', { exact: true })).toBeVisible();

  await click(usual.getByRole('button', { name: 'Download Q4_K_M' }));
  await click(usual.getByRole('button', { name: 'Use and ask: Q4_K_M' }));
  const field = window.getByRole('textbox', { name: 'Your question' });
  await expect(window.getByText(/^\d+ documents are ready for questions\./)).toBeVisible({
    timeout: COMPUTED_MS,
  });
  await field.fill('Where does Project Polaris run?');
  await field.press('Enter');
  await expect(stripOf(answers(window))).toBeVisible({ timeout: ANSWER_MS });
  expect(clicks).toBeLessThanOrEqual(4);

  await goTo(window, 'Models');
  await expect(chatModels(window).locator('[data-active]')).toContainText('Downloaded');
});

test('starting points for this machine come first, each a click away', async ({ sharedWindow: window }) => {
  await discover(window);
  const section = window.getByRole('region', { name: 'Starting points for this machine' });
  await expect(section.getByRole('listitem')).not.toHaveCount(0);
  await expect(section).toContainText(/Chosen for .* of memory|graphics card/);
  const first = section.getByRole('listitem').first();
  await first.getByRole('button', { name: /^Download / }).click();
  await expect(first.getByRole('button', { name: /^Use and ask: / })).toBeVisible();
  expect(await violationsIn(window, { impacts: IMPACTS })).toEqual([]);
});

test('a model in two files is one download; one with a wrong checksum is never a model', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
  hub,
}) => {
  await discover(window);
  await search(window, 'tiny');
  await window.getByRole('link', { name: 'ada/Tiny-GGUF' }).click();
  await expect(row(window, 'Q4_K_M')).toContainText('Fits this machine');
  const whole = hub.repositories['ada/Tiny-GGUF']?.files['Tiny-Q4_K_M.gguf'];
  hub.swapped['Tiny-Q4_K_M.gguf'] = Buffer.alloc(whole?.length ?? 0, 3);
  await row(window, 'Q4_K_M').getByRole('button', { name: 'Download Q4_K_M' }).click();
  await expect(row(window, 'Q4_K_M')).toContainText('Failed');
  await expect(window.getByText(/Checksum mismatch/)).toBeVisible();
  expect(readdirSync(join(dataDir, 'models'))).toEqual([]);

  await test.step('the parts', async () => {
    hub.swapped = {};
    await row(window, 'F16').getByRole('button', { name: 'Download F16' }).click();
    await expect(row(window, 'F16').getByRole('button', { name: 'Use and ask: F16' })).toBeVisible();
    expect(readdirSync(join(dataDir, 'models')).sort()).toEqual([
      'Tiny-F16-00001-of-00002.gguf',
      'Tiny-F16-00002-of-00002.gguf',
    ]);
  });
});

test('a gated repository says what to do; a token lets one in, and says where it is kept', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
  hub,
}) => {
  await discover(window);
  await search(window, 'gated');
  await expect(row(window, 'ada/Tiny-Gated-GGUF')).toContainText('On request');
  await window.getByRole('link', { name: 'ada/Tiny-Gated-GGUF' }).click();
  const steps = window.getByRole('note');
  await expect(steps).toContainText('You must accept this repository’s terms first');
  await expect(steps.getByRole('link')).toHaveAttribute('href', `${hub.address}/ada/Tiny-Gated-GGUF`);
  await expect(row(window, 'Q4_K_M').getByRole('button')).toHaveCount(0);

  await expect(steps).toContainText('which only you can read');
  expect(await violationsIn(window, { impacts: IMPACTS })).toEqual([]);
  await steps.getByLabel(/^Token for 127/).fill(hub.token);
  await window.keyboard.press('Enter');
  await expect(row(window, 'Q4_K_M')).toContainText('Fits this machine');
  const kept = join(dataDir, 'hub-token.json');
  if (process.platform !== 'win32') expect(statSync(kept).mode & 0o777).toBe(0o600);
  for (const name of ['settings.json', 'kvasir.log'].filter((each) => existsSync(join(dataDir, each))))
    expect(readFileSync(join(dataDir, name), 'utf8')).not.toContain(hub.token);
});

test('offline is one sentence; the models of this machine stay', async ({ sharedWindow: window, hub }) => {
  hub.close();
  await discover(window);
  await expect(window.getByText(/^127\.0\.0\.1:\d+ cannot be reached .*still work\.$/)).toBeVisible();
  await expect(window.getByRole('button', { name: 'Try again' })).toBeVisible();
  await window.getByRole('tab', { name: 'On this machine' }).click();
  await expect(chatModels(window)).toContainText('In use');
});

test.describe('at the first start', () => {
  test.use({ welcomed: false });

  test('a download is offered in a sentence once somebody asks, and nobody is asked before', async ({
    window,
    hub,
  }) => {
    const offer = window.getByRole('region', { name: 'Or download a model' });
    await expect(offer).toContainText(/Kvasir contacts 127\.0\.0\.1:\d+ only when you click/);
    expect(hub.seen).toEqual([]);
    await offer.getByRole('button', { name: 'Which models suit this machine?' }).click();
    await expect(offer).toContainText(/\S+ is [\d.]+ MB to download/);
    await expect(offer.getByRole('button', { name: /^Download / })).toBeVisible();
  });
});
