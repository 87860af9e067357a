import { readFileSync } from 'node:fs';
import type { Locator } from '@playwright/test';
import { startApp } from './support/app.ts';
import { ANSWER_MS, answers, ask, QUESTION, sourcesOf, startConversation, stripOf } from './support/chat.ts';
import { expect, openWindow, test } from './support/test.ts';

test('a second turn computes only what is new', async ({ sharedWindow: window }) => {
  await startConversation(window);
  await ask(window, QUESTION);
  await expect(window.getByText(/[\d,]+ tokens in memory/)).toBeVisible();
  const second = await ask(window, 'Who leads it?');
  await expect(stripOf(second)).toContainText(/Only [\d,]+ of [\d,]+ tokens were new/);
});

test('answering again and editing the question make branches, and none is lost', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await ask(window, QUESTION);
  await window.getByRole('button', { name: 'Answer again' }).click();
  await expect(window.getByRole('group', { name: 'Versions' })).toContainText('2');
  await expect(stripOf(window)).toBeVisible();

  await window.getByRole('article', { name: 'You' }).hover();
  await window.getByRole('button', { name: 'Edit question' }).click();
  const field = window.getByRole('textbox', { name: 'Edit your question' });
  await field.fill('What colour are the shirts of Team Ocelot?');
  await window.getByRole('button', { name: 'Ask again' }).click();
  await expect(window.getByRole('article', { name: 'You' })).toContainText('Team Ocelot');
  await expect(stripOf(window)).toBeVisible();
  await window.getByRole('button', { name: 'Previous version' }).first().click();
  await expect(window.getByRole('article', { name: 'You' })).toContainText('Polaris');

  await window.getByRole('textbox', { name: 'Your question' }).press('ArrowUp');
  await expect(field).toHaveValue(QUESTION);
  await window.keyboard.press('Escape');
  await expect(field).toBeHidden();
  await window.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await window.getByRole('article', { name: 'You' }).hover();
  await window.getByRole('button', { name: 'Copy question' }).click();
  await expect.poll(() => window.evaluate(() => navigator.clipboard.readText())).toBe(QUESTION);
});

test('a source opens its document at the passage', async ({ sharedWindow: window }) => {
  await startConversation(window);
  await sourcesOf(await ask(window, QUESTION))
    .first()
    .click();
  await window.getByRole('link', { name: 'Open in document' }).click();
  await expect(window).toHaveURL(/#\/document\/\d+\?start=\d+&end=\d+/);
  await expect(window.locator('mark').first()).toBeInViewport();
});

/** The first paragraph, without the marks at the ends of its sentences. */
function written(answer: Locator): Promise<string> {
  return answer
    .getByRole('paragraph')
    .first()
    .evaluate((paragraph) => {
      const copy = paragraph.cloneNode(true) as Element;
      for (const mark of copy.querySelectorAll('a, [role]')) mark.remove();
      return copy.textContent;
    });
}

test('an answer that is cut off says so and goes on in its place', async ({ sharedWindow: window }) => {
  await startConversation(window);
  const allow = async (tokens: string): Promise<void> => {
    await window.getByRole('button', { name: /^Sources and settings for this conversation/ }).click();
    await window.getByLabel('Maximum answer length').fill(tokens);
    await window.keyboard.press('Enter');
    await window.keyboard.press('Escape');
  };
  await allow('1');
  const answer = await ask(window, 'Who is the mentor of Lena Marchetti?');
  await expect(answer).toContainText('This answer was cut off at its limit of 1 token.');
  const first = await written(answer);
  expect(first).not.toBe('');
  await allow('');
  await answer.getByRole('button', { name: 'Continue' }).click();
  const length = async (): Promise<number> => (await written(answer)).length;
  await expect.poll(length, { timeout: ANSWER_MS }).toBeGreaterThan(first.length);
  await expect(answer).toHaveAttribute('aria-busy', 'false', { timeout: ANSWER_MS });
  await expect(answer.getByRole('button', { name: 'Continue' })).toBeHidden();
  expect((await written(answer)).startsWith(first)).toBe(true);
  await expect(answers(window)).toHaveCount(1);
});

test('a conversation can be renamed, found, exported, deleted and brought back', async ({
  sharedWindow: window,
}) => {
  const question = 'Where does Project Polaris run, and why?';
  await startConversation(window);
  await ask(window, question);
  const list = window.getByRole('complementary', { name: 'Conversations' });
  const menu = list.getByRole('button', { name: `Actions for “${question}”` });

  await menu.click();
  const download = window.waitForEvent('download');
  await window.getByRole('menuitem', { name: 'Export as Markdown' }).click();
  const markdown = readFileSync(await (await download).path(), 'utf8');
  expect(markdown).toContain(question);

  await menu.click();
  await window.getByRole('menuitem', { name: 'Rename' }).click();
  await list.getByRole('textbox', { name: 'New name' }).fill('The renamed one');
  await window.keyboard.press('Enter');
  await list.getByRole('textbox', { name: 'Search conversations' }).fill('the renamed');
  await expect(list.getByRole('link', { name: /^The renamed one/ })).toBeVisible();

  await list.getByRole('button', { name: 'Actions for “The renamed one”' }).click();
  await window.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(list.getByRole('link', { name: /^The renamed one/ })).toBeHidden();
  await window.getByRole('button', { name: 'Undo' }).click();
  await expect(list.getByRole('link', { name: /^The renamed one/ })).toBeVisible();
  await list.getByRole('textbox', { name: 'Search conversations' }).fill('');
});

test('an answer survives the end of the window and of the app', async ({ window, app, dataDir, context }) => {
  await ask(window, QUESTION);
  await window.reload();
  await expect(answers(window)).toBeVisible();
  await app.kill();
  await expect(window.getByText('Kvasir is not responding. Reconnecting…')).toBeVisible();
  const again = await startApp(dataDir, ['--port', new URL(app.origin).port]);
  try {
    await expect(window.getByText('Kvasir restarted. Open the address it printed')).toBeVisible();
    await window.close();
    const reopened = await openWindow(again, context);
    await reopened.getByRole('complementary', { name: 'Conversations' }).getByText(QUESTION).click();
    await expect(answers(reopened)).toBeVisible();
  } finally {
    await again.stop();
  }
});
