import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { violationsIn } from './support/axe.ts';
import { ANSWER_MS } from './support/chat.ts';
import { runCommand } from './support/palette.ts';
import { addByPath, createLibrary, libraryDone, rowOf } from './support/library.ts';
import { expect, goTo, test } from './support/test.ts';

/** A document of many chunks: a ship's log. */
function writeLog(folder: string): void {
  const entries = Array.from(
    { length: 150 },
    (_, i) =>
      `## Day ${i + 1}\n\nThe Cormorant number ${i + 1} lay at berth ${(i * 7) % 13} of the eastern quay.\n`,
  );
  writeFileSync(join(folder, 'log.md'), `# The log\n\n${entries.join('\n')}`);
}

/** A fixed strategy: by default the app decides by measurements, and a fast machine may recompute instead of reusing. */
const BLENDED = { strategy: { name: 'deviation', ratio: 0.15 } } as const;

test.describe('from the library', () => {
  test.use({ settings: BLENDED });

  test('a document is analysed; a window leads back to its passage', async ({ sharedWindow: window }) => {
    test.slow();
    const folder = temporaryFolder();
    writeLog(folder.path);
    await createLibrary(window, 'Ships');
    await addByPath(window, [folder.path]);
    await libraryDone(window, 'Ships', 1);

    await test.step('the document offers it, and the plan says what will be done', async () => {
      await rowOf(window, 'log.md').getByRole('link', { name: 'The log' }).click();
      await window.getByRole('link', { name: 'Analyse…' }).click();
      await expect(window.getByRole('combobox', { name: 'Document' })).toHaveValue('The log');
      await window.getByRole('button', { name: 'Summarise' }).click();
      await window.getByRole('textbox', { name: 'Passages per window' }).fill('6');
      await window.getByRole('textbox', { name: 'Overlap (passages)' }).fill('2');
      await expect(window.getByText(/windows of up to 6 passages, overlapping by 2/)).toBeVisible();
    });

    await test.step('windows come one by one, and the result at the end', async () => {
      await window.getByRole('button', { name: 'Start' }).click();
      const result = window.getByRole('region', { name: 'Result' });
      await expect(result.getByRole('article')).toContainText('to the first word', { timeout: ANSWER_MS });
      const windows = window.getByRole('region', { name: 'Windows' }).getByRole('article');
      expect(await windows.count()).toBeGreaterThan(2);
      await expect(windows.nth(1)).toContainText('passages 5–10');
      await expect(windows.nth(1)).toContainText(/9\d% of \d+ tokens from the cache/);
    });

    await test.step('axe finds nothing serious', async () => {
      expect(await violationsIn(window)).toEqual([]);
    });

    await test.step('a source opens the document at the passage', async () => {
      const second = window.getByRole('region', { name: 'Windows' }).getByRole('article').nth(1);
      await second.getByText('6 sources').click();
      await second.getByRole('link').first().click();
      await expect(window.locator('mark').first()).toBeInViewport();
    });

    await test.step('the result can be kept', async () => {
      await goTo(window, 'Analysis');
      await window.getByRole('link', { name: /The log/ }).click();
      const markdown = await exported(window, 'Markdown');
      expect(markdown).toMatch(/^# The log\n/);
      expect(markdown).toContain('## Result');
      expect(markdown).toContain('## Window 2: parts 5–10');
    });

    await test.step('and deleted', () => deleteShown(window));
    folder.remove();
  });
});

test('several questions are answered in a table, from the keyboard alone', async ({
  sharedWindow: window,
}) => {
  await runCommand(window, 'Ask several');
  const field = window.getByRole('textbox', { name: 'Questions, one per line' });
  await field.fill(
    'Where does Project Polaris run?\n\nWho leads Project Polaris?\nWhere does Project Polaris run?',
  );
  await expect(window.getByText('3 questions')).toBeVisible();
  expect(await violationsIn(window)).toEqual([]);
  await field.press('Control+Enter');

  const table = window.getByRole('table', { name: 'Questions and answers' });
  await expect(table.getByRole('row')).toHaveCount(4);
  const figures = window.getByLabel('Shared between steps');
  await expect(window.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: ANSWER_MS });
  await expect(rowAt(table, 1)).toContainText('Riga');
  await expect(rowAt(table, 3)).toContainText('Riga');
  await expect(figures).toContainText('From the cache');
  expect(await violationsIn(window)).toEqual([]);

  await test.step('one can be asked again', async () => {
    await rowAt(table, 2)
      .getByRole('button', { name: /^Run again/ })
      .click();
    await expect(window.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: ANSWER_MS });
    await expect(rowAt(table, 2)).toContainText('ms');
  });

  await test.step('the table can be kept', async () => {
    const csv = await exported(window, 'Table (CSV)');
    expect(csv.split('\r\n')[0]).toMatch(/^question,answer,sources/);
    expect(csv.match(/Where does Project Polaris run\?,[^\n]*Riga/g)).toHaveLength(2);
  });

  await test.step('and deleted', () => deleteShown(window));
});

async function deleteShown(window: Page): Promise<void> {
  await window.getByRole('button', { name: 'Delete' }).click();
  await window.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(window.getByRole('heading', { name: 'New analysis' })).toBeVisible();
}

function rowAt(table: Locator, index: number): Locator {
  return table.getByRole('row').nth(index);
}

async function exported(window: Page, format: string): Promise<string> {
  await window.getByRole('button', { name: 'Export' }).click();
  const download = window.waitForEvent('download');
  await window.getByRole('menuitem', { name: format }).click();
  return readFileSync(await (await download).path(), 'utf8');
}
