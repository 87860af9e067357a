import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { addByPath, createLibrary, documentsOf, QUEUE_MS } from './support/library.ts';
import { route } from './support/screens.ts';
import { expect, NO_BACKGROUND_WORK, test } from './support/test.ts';

test.use({ settings: { ...NO_BACKGROUND_WORK, chunkTokens: 96, welcomed: true } });

const TEXT = longText();
/** Offsets of a passage in the text, as in its link: near the start, in the middle, and at the end. */
const PLACES = [1200, 80_000, 115_000].map((start) => ({ start, end: start + 300 }));

test('a link leads to its passage in a long document of small chunks, and so does the way back', async ({
  window,
}) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, 'docs'));
  writeFileSync(join(folder.path, 'docs', 'chronicle.md'), TEXT);
  await createLibrary(window, 'Long');
  await addByPath(window, [folder.path]);
  const row = documentsOf(window, 'Long').getByRole('row').filter({ hasText: 'chronicle.md' });
  await expect(row).toContainText('Ready', { timeout: QUEUE_MS });
  const address = (await row.getByRole('link').getAttribute('href')) ?? '';

  for (const { start, end } of PLACES) {
    await test.step(`the passage at ${start}`, async () => {
      await route(window, '/'); // nothing of the passage before stays
      await route(window, `${address.slice(1)}?start=${start}&end=${end}`);
      await expectPassage(window, TEXT.slice(start, end));
      const text = window.getByRole('region', { name: /^Text of/ });
      for (const key of ['End', 'Home']) {
        await text.focus();
        await window.keyboard.press(key);
        await atRest(window);
        const back = window.getByRole('button', { name: 'Back to the passage' });
        if (await back.isVisible()) await back.click();
        await expectPassage(window, TEXT.slice(start, end));
      }
    });
  }
  folder.remove();
});

/** The passage is marked and on screen once nothing moves any more. */
async function expectPassage(window: Page, passage: string): Promise<void> {
  await expect(window.locator('mark').first()).toBeVisible();
  await atRest(window);
  await expect(window.locator('mark').first()).toBeInViewport();
  expect((await window.locator('mark').allTextContents()).join('')).toBe(passage);
}

/** Waits until the text has not moved or grown for a while. */
async function atRest(window: Page): Promise<void> {
  await window.getByRole('region', { name: /^Text of/ }).evaluate(
    (text) =>
      new Promise<void>((resolve) => {
        let still = 0;
        let last = '';
        const look = (): void => {
          const now = `${text.scrollTop} ${text.scrollHeight} ${text.textContent.length}`;
          still = now === last ? still + 1 : 0;
          last = now;
          if (still > 45) resolve();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

/** Sections and paragraphs of very different lengths, about 120,000 characters. */
function longText(): string {
  let text = '# A chronicle\n\n';
  for (let day = 1; text.length < 120_000; day++) {
    if (day % 7 === 0) text += `## Week ${day / 7}\n\n`;
    const sentences = Array.from(
      { length: 1 + ((day * 7) % 11) },
      (_, i) => `On day ${day} the ${i}th ship of the harbour was painted white.`,
    );
    text += `${sentences.join(day % 5 === 0 ? '\n' : ' ')}\n\n`;
  }
  return text;
}
