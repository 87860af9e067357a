import { answers, ANSWER_MS, ask, QUESTION, startConversation } from './support/chat.ts';
import { violationsIn } from './support/axe.ts';
import { expect, test } from './support/test.ts';

test('a sentence ends with its source, which shows the sentence that says it and opens the document there', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  const answer = await ask(window, QUESTION);
  await expect(answer).toHaveAttribute('aria-busy', 'false', { timeout: ANSWER_MS });
  const mark = answer.getByRole('link', { name: /^Source \d+: projects\/project-polaris/ }).first();
  await expect(mark).toBeVisible();
  const said = (await mark.getAttribute('aria-description')) ?? '';
  const [, city = '-'] = / in (\p{Lu}\p{Ll}+)/u.exec(await answer.innerText()) ?? [];
  expect(said).toContain(city);

  await test.step('hover shows it', async () => {
    await mark.hover();
    await expect(window.getByRole('tooltip')).toContainText(said);
    expect(await violationsIn(window)).toEqual([]);
  });

  await test.step('Enter opens the document with it marked', async () => {
    await mark.focus();
    await window.keyboard.press('Enter');
    const marked = window.locator('main mark');
    await expect(marked.first()).toBeVisible();
    expect((await marked.allTextContents()).join('')).toContain(city);
    await window.goBack();
    await expect(answers(window).first()).toBeVisible();
  });
});
