import type { OutputOf } from '../../src-shared/contract/contract.ts';
import { ANSWER_MS, ask, sourcesOf, startConversation } from './support/chat.ts';
import { changingReplies } from './support/replies.ts';
import { call, expect, goTo, homeOf, test } from './support/test.ts';

test('filters in the search text leave documents of a folder or kind, typing errors are corrected, and keys open a hit', async ({
  sharedWindow: window,
}) => {
  await goTo(window, 'Search');
  const field = window.getByRole('searchbox', { name: 'Search' });
  const hits = window.locator('[data-hit]');
  const status = window.getByRole('status').filter({ hasText: 'document' });
  await expect(window.getByText('Filters: in:folder')).toBeVisible();
  await field.fill('Polaris in:projects kind:markdown');
  await expect(status).toContainText(/The filters leave \d+ documents/, { timeout: ANSWER_MS });
  await expect(hits.first()).toBeVisible();
  for (const heading of await window.getByRole('heading', { level: 2 }).allTextContents())
    expect(heading).toMatch(/projects\/.*\.md/);

  await field.fill('Polaris in:nowhere');
  await expect(status).toContainText('The filters leave 0 documents.');
  await expect(hits).toHaveCount(0);

  await test.step('a search is limited to libraries and documents, and widened again', async () => {
    await call(window, 'libraries.create', { name: 'Empty' });
    await field.fill('Polaris');
    const libraries = window.getByRole('combobox', { name: 'Libraries' });
    await libraries.click();
    await window.getByRole('option', { name: 'Empty' }).click();
    await expect(window.getByText('No matching passages')).toBeVisible();
    await window.getByRole('button', { name: 'Search everywhere' }).click();
    await expect(hits.first()).toBeVisible();
    const documents = window.getByRole('combobox', { name: 'Documents' });
    await documents.fill('alder');
    await window.getByRole('option', { name: 'The Alder House' }).click();
    await expect(window.getByText('No matching passages')).toBeVisible();
    await documents.press('Backspace');
    await expect(hits.first()).toBeVisible();
  });
  await test.step('what was found is not searched again while nothing changes', async () => {
    const found = await status.textContent(); // with the time that it took
    await window.waitForTimeout(1500);
    await expect(status).toHaveText(found ?? '');
  });

  await field.fill('Polariss');
  await expect(
    window.getByText('No passage contains “polariss”: similar words were searched.'),
  ).toBeVisible();
  await expect(hits.first()).toContainText('Polaris');

  await hits.first().focus();
  await window.keyboard.press('ArrowDown');
  await expect(hits.nth(1)).toBeFocused();
  await window.keyboard.press('ArrowUp');
  await expect(hits.first()).toBeFocused();
  await window.keyboard.press('Enter');
  await expect(window).toHaveURL(/#\/document\/\d+\?start=\d+&end=\d+/);
  await expect(window.locator('mark').first()).toBeInViewport();
});

test('a question may have filters, and each source says why it was chosen', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await window.getByRole('textbox', { name: 'Your question' }).fill('in:');
  await expect(window.getByText('Filters: in:folder')).toBeVisible();
  const answer = await ask(window, 'in:projects Where does Project Polaris run?');
  await sourcesOf(answer)
    .filter({ hasText: /polaris/i })
    .first()
    .click();
  await expect(answer).toContainText(/Why this passage · Words: .*polaris.* · Keyword rank 1/);
});

test('the window says if only the newest of many passages were ranked', async ({ sharedWindow }) => {
  const window = await sharedWindow.context().newPage();
  await changingReplies<OutputOf<'search.query'>>(window, 'search.query', (data) => {
    return { ...data, newest: 20_000 };
  });
  await window.goto(homeOf(sharedWindow));
  await goTo(window, 'Search');
  await window.getByRole('searchbox', { name: 'Search' }).fill('Polaris');
  await expect(
    window.getByText(
      'only the newest 20,000 passages with them were ranked. Add a rarer word to search all.',
    ),
  ).toBeVisible({ timeout: ANSWER_MS });
  await expect(window.locator('[data-hit]').first()).toBeVisible();
});
