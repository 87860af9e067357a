import type { Page } from '@playwright/test';
import { ask, QUESTION, startConversation } from './support/chat.ts';
import { expect, goTo, openWindow, test } from './support/test.ts';

test('what is shown in one window follows what another one does', async ({
  sharedApp,
  sharedWindow: first,
  context,
}) => {
  const second = await openWindow(sharedApp, context);

  await test.step('uses in the cache', async () => {
    await goTo(second, 'Cache');
    await second.getByRole('button', { name: /^Uses/ }).click(); // Sorted by use: only visible rows can be read.
    const before = await uses(second);
    await startConversation(first);
    await ask(first, QUESTION);
    await expect.poll(() => uses(second)).toBeGreaterThan(before);
  });

  await test.step('backups', async () => {
    for (const window of [first, second]) {
      await goTo(window, 'Settings');
      await window.getByRole('button', { name: 'Data', exact: true }).click();
      await expect(window.getByText('No backups yet.')).toBeVisible();
    }
    await first.getByRole('button', { name: 'Back up now' }).click();
    for (const window of [first, second]) await expect(window.getByText(/^Kvasir .*\.zip$/)).toBeVisible();
    await expect(second.getByText('No backups yet.')).toBeHidden();
  });
});

/** All use counts in the table of documents. */
async function uses(window: Page): Promise<number> {
  const rows = window.getByRole('grid', { name: 'Cache by document' }).getByRole('row');
  await expect(rows.nth(1)).toBeVisible();
  const header = await rows.first().getByRole('columnheader').allTextContents();
  const column = header.findIndex((text) => text.startsWith('Uses'));
  expect(column).toBeGreaterThan(-1);
  let sum = 0;
  for (const row of (await rows.all()).slice(1)) {
    const cells = await row.getByRole('gridcell').allTextContents();
    sum += Number(cells[column]);
  }
  return sum;
}
