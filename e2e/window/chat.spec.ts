import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

const QUESTION = 'Where does Project Polaris run?';

async function ask(window: Page, question: string): Promise<Locator> {
  const before = await window.getByRole('article', { name: 'Kvasir' }).count();
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill(question);
  await field.press('Enter');
  const answer = window.getByRole('article', { name: 'Kvasir' }).nth(before);
  await expect(answer.getByRole('region', { name: 'How this answer was made' })).toBeVisible({
    timeout: 60_000,
  });
  return answer;
}

test('a second turn computes only what is new', async ({ window }) => {
  await ask(window, QUESTION);
  await expect(window.getByText(/[\d,]+ tokens in memory/)).toBeVisible();
  const second = await ask(window, 'Who leads it?');
  await expect(second.getByRole('region', { name: 'How this answer was made' })).toContainText(
    /still in memory/,
  );
});

test('answering again and editing the question make branches, and none is lost', async ({ window }) => {
  await ask(window, QUESTION);
  await window.getByRole('button', { name: 'Answer again' }).click();
  await expect(window.getByRole('group', { name: 'Versions' })).toContainText('2');
  await expect(window.getByRole('region', { name: 'How this answer was made' })).toBeVisible();

  await window.getByRole('article', { name: 'You' }).hover();
  await window.getByRole('button', { name: 'Edit question' }).click();
  const field = window.getByRole('textbox', { name: 'Change your question' });
  await field.fill('What colour are the shirts of Team Ocelot?');
  await window.getByRole('button', { name: 'Ask again' }).click();
  await expect(window.getByRole('article', { name: 'You' })).toContainText('Team Ocelot');
  await window.getByRole('button', { name: 'Previous version' }).first().click();
  await expect(window.getByRole('article', { name: 'You' })).toContainText('Polaris');
});

test('a source opens its document at the passage', async ({ window }) => {
  const answer = await ask(window, QUESTION);
  await answer
    .getByRole('region', { name: /sources?$/ })
    .getByRole('button')
    .first()
    .click();
  await window.getByRole('link', { name: 'Open in document' }).click();
  await expect(window).toHaveURL(/#\/document\/\d+\?start=\d+&end=\d+/);
  await expect(window.locator('mark').first()).toBeInViewport();
});

test('a conversation can be renamed, found, exported, deleted and brought back', async ({ window }) => {
  await ask(window, QUESTION);
  const list = window.getByRole('complementary', { name: 'Conversations' });
  const menu = list.getByRole('button', { name: `Actions for “${QUESTION}”` });

  await menu.click();
  const download = window.waitForEvent('download');
  await window.getByRole('menuitem', { name: 'Export as Markdown' }).click();
  const markdown = readFileSync(await (await download).path(), 'utf8');
  expect(markdown).toContain(QUESTION);

  await menu.click();
  await window.getByRole('menuitem', { name: 'Rename' }).click();
  await list.getByRole('textbox', { name: 'New name' }).fill('Polaris');
  await window.keyboard.press('Enter');
  await list.getByRole('textbox', { name: 'Search conversations' }).fill('polaris');
  await expect(list.getByText('Polaris', { exact: true })).toBeVisible();

  await list.getByRole('button', { name: 'Actions for “Polaris”' }).click();
  await window.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(list.getByText('Polaris', { exact: true })).toBeHidden();
  await window.getByRole('button', { name: 'Undo' }).click();
  await expect(list.getByText('Polaris', { exact: true })).toBeVisible();
});

test('without a match the answer says so', async ({ window }) => {
  const answer = await ask(window, 'xylophone zeitgeist?');
  await expect(answer.getByRole('note')).toContainText('No document matched');
});

test('an answer survives the end of the window and of the app', async ({ window, app, dataDir, page }) => {
  await ask(window, QUESTION);
  await window.reload();
  await expect(window.getByRole('article', { name: 'Kvasir' })).toBeVisible();
  await app.kill();
  const { startApp } = await import('./support/app.ts');
  const again = await startApp(dataDir);
  try {
    await page.goto(again.url);
    await window.getByRole('complementary', { name: 'Conversations' }).getByText(QUESTION).click();
    await expect(window.getByRole('article', { name: 'Kvasir' })).toBeVisible();
  } finally {
    await again.stop();
  }
});
