import type { Locator, Page } from '@playwright/test';
import { startApp } from './support/app.ts';
import { answers, ask, QUESTION } from './support/chat.ts';
import { call, expect, openWindow, test } from './support/test.ts';

test('conversations are pinned, found by a message, copied and printed; drafts are kept', async ({
  window,
  app,
  dataDir,
  context,
}) => {
  const answer = await ask(window, QUESTION);

  await test.step('an answer is copied with its sources', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await answer.getByRole('button', { name: 'Copy answer with its sources' }).click();
    const copied = await window.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/ \[\d\][^]*\n\nSources:\n\n1\. .+\(`.+`, /);
  });

  await test.step('on paper there is only the conversation, with its sources', async () => {
    await window.emulateMedia({ media: 'print' });
    await expect(window.getByText('Sources:')).toBeVisible();
    await expect(answer).toBeVisible();
    await expect(window.getByRole('navigation', { name: 'Main' })).toBeHidden();
    await expect(listOf(window)).toBeHidden();
    await expect(window.getByText('Now try your own documents')).toBeHidden();
    await expect(window.getByRole('textbox', { name: 'Your question' })).toBeHidden();
    await expect(window.getByRole('button')).toHaveCount(0);
    await window.emulateMedia({ media: null });
    await expect(window.getByText('Sources:')).toBeHidden();
  });

  await test.step('one answer is printed alone, and a conversation by a key', async () => {
    await window.evaluate(() => {
      globalThis.print = () => {
        const marked = [...document.querySelectorAll('[data-print]')];
        document.title = marked.map(({ tagName }) => tagName).join(' ');
        dispatchEvent(new Event('afterprint'));
      };
    });
    await answer.getByRole('button', { name: 'Print answer' }).click();
    await expect(window).toHaveTitle('ARTICLE');
    await window.keyboard.press('Control+P');
    await expect(window).toHaveTitle('SECTION');
  });

  await test.step('a pinned conversation comes first', async () => {
    await listOf(window)
      .getByRole('button', { name: `Actions for “${QUESTION}”` })
      .click();
    await window.getByRole('menuitem', { name: 'Pin' }).click();
    await expect(listOf(window).getByText('Pinned')).toBeVisible();
  });

  await test.step('a search marks its words and leads to the message', async () => {
    await window.keyboard.press('Control+Shift+O');
    await window.getByRole('textbox', { name: 'Your question' }).fill('A draft to keep');
    await listOf(window).getByRole('textbox', { name: 'Search conversations' }).fill('polar');
    await expect(listOf(window).locator('mark').first()).toHaveText(/^polar$/i);
    await listOf(window).getByRole('link').click();
    await expect(window.getByRole('article').and(window.locator(':focus'))).toContainText(/polar/i);
    await expect(window).toHaveURL(/#\/chat\/\d+$/);
  });

  await expect.poll(() => call(window, 'chat.drafts', {})).toMatchObject([{ text: 'A draft to keep' }]);
  await window.close();
  await app.kill();
  const again = await startApp(dataDir);
  try {
    const reopened = await openWindow(again, context);
    await expect(reopened.getByRole('textbox', { name: 'Your question' })).toHaveValue('A draft to keep');
    await listOf(reopened).getByRole('link').click();
    await expect(answers(reopened)).toBeVisible();
    await expect(reopened.getByRole('textbox', { name: 'Your question' })).toHaveValue('');
  } finally {
    await again.stop();
  }
});

function listOf(window: Page): Locator {
  return window.getByRole('complementary', { name: 'Conversations' });
}
