import type { Locator, Page } from '@playwright/test';
import { COMPUTED_MS, expect, goTo } from './test.ts';

/** A question that the sample library answers. */
export const QUESTION = 'Where does Project Polaris run?';

/** An answer needs the model, which the cores of a busy machine are slow to serve. */
export const ANSWER_MS = 120_000;

/** Begins a conversation that no other test has touched. */
export async function startConversation(window: Page): Promise<void> {
  await goTo(window, 'Chat');
  await expect(window.getByRole('textbox', { name: 'Your question' })).toBeVisible();
  await window.keyboard.press('Control+Shift+O');
  await expect(answers(window)).toHaveCount(0);
}

/** Has the conversation's answers made in one way, where a test depends on it: left to itself the app goes by what it measured. */
export async function blendByDeviation(window: Page): Promise<void> {
  await window.getByRole('button', { name: /^Sources and settings of this conversation/ }).click();
  await window.getByRole('button', { name: 'Advanced' }).click();
  await window.getByRole('radio', { name: 'Blend by deviation', exact: true }).check();
  await window.keyboard.press('Escape');
}

/** Asks in the conversation that is shown, and waits for the whole answer. */
export async function ask(window: Page, question: string): Promise<Locator> {
  const before = await answers(window).count();
  if (before === 0) await documentsRead(window);
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill(question);
  await field.press('Enter');
  const answer = answers(window).nth(before);
  await unfold(answer);
  return answer;
}

/** A question that comes before the sample library was read finds nothing. Where its state is not shown, it was read before. */
export async function documentsRead(window: Page): Promise<void> {
  const ready = window.getByRole('list', { name: 'What is ready' });
  const shown = await ready.waitFor({ timeout: 2000 }).then(
    () => true,
    () => false,
  );
  if (shown)
    await expect(ready).toContainText(
      /Everything is computed ahead|cannot be blended|nothing is computed ahead/,
      {
        timeout: COMPUTED_MS,
      },
    );
}

export function answers(window: Page): Locator {
  return window.getByRole('article', { name: 'Kvasir' });
}

export function stripOf(within: Locator | Page): Locator {
  return within.getByRole('group', { name: 'How this answer was made' });
}

/** Shows what is folded under an answer, once it is there: its sources and how it was made. */
export async function unfold(within: Locator | Page): Promise<void> {
  const strip = stripOf(within);
  await expect(strip).toBeVisible({ timeout: ANSWER_MS });
  const fold = strip.locator('button[aria-expanded]').first();
  if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click();
}

/** The sources under an answer, one button each. */
export function sourcesOf(answer: Locator): Locator {
  return answer.getByRole('group', { name: /^\d+ sources?$/ }).getByRole('button');
}
