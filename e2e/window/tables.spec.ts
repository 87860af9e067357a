import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { violationsIn } from './support/axe.ts';
import { temporaryFolder } from './support/app.ts';
import { addByPath, createLibrary, documentsOf, QUEUE_MS } from './support/library.ts';
import { route } from './support/screens.ts';
import { expect, NO_BACKGROUND_WORK, test } from './support/test.ts';

test.use({ settings: { ...NO_BACKGROUND_WORK, welcomed: true } });

const ROWS = Array.from({ length: 1000 }, (_, i) => `T${i + 1},${(i * 37) % 500},2026-01-01`);

test('a table is shown as a grid, and a link to a passage leads to its rows', async ({ window }) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, 'docs'));
  writeFileSync(join(folder.path, 'docs', 'towns.csv'), `Town,Bridges,Built\n${ROWS.join('\n')}\n`);
  await createLibrary(window, 'Tables');
  await addByPath(window, [folder.path]);
  const row = documentsOf(window, 'Tables').getByRole('row').filter({ hasText: 'towns.csv' });
  await expect(row).toContainText('Ready', { timeout: QUEUE_MS });
  const address = (await row.getByRole('link').getAttribute('href')) ?? '';

  await route(window, address.slice(1));
  const grid = window.getByRole('grid', { name: /^Rows of/ });
  await expect(grid.getByRole('columnheader')).toHaveText(['Row', 'Town', 'Bridges', 'Built']);
  await expect(grid.getByRole('row').nth(1).getByRole('gridcell')).toHaveText(['2', 'T1', '0', '2026-01-01']);
  await expect(window.getByText('Rows: 1,000 · Columns: 3')).toBeVisible();
  expect(await violationsIn(window)).toEqual([]);
  await grid.getByRole('row').nth(1).focus();
  await window.keyboard.press('End');
  await expect(grid.getByText('T1000')).toBeInViewport();

  // The line of town 700 in the text.
  const line = (i: number): string => `- Town: T${i}; Bridges: ${((i - 1) * 37) % 500}; Built: 2026-01-01\n`;
  const before = Array.from({ length: 699 }, (_, i) => line(i + 1)).join('').length;
  await route(window, '/'); // nothing of the row before stays
  await route(window, `${address.slice(1)}?start=${before}&end=${before + 10}`);
  await expect(grid.getByText('T700')).toBeInViewport();
  await expect(grid.locator('[data-marked]')).toHaveCount(3);
  await expect(grid.locator('[data-marked]').first()).toHaveText('T700');

  await window.getByRole('radiogroup', { name: 'View' }).getByText('Text').click();
  await expect(window.locator('mark').first()).toContainText('- Town: T7');
  folder.remove();
});
