import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import Database from 'better-sqlite3';
import { COMPUTED_MS, expect, goTo } from './test.ts';

/** A question that the sample library answers. */
export const QUESTION = 'Where does Project Polaris run?';

/** Timeout of an answer: busy machines run the model slowly. */
export const ANSWER_MS = 120_000;

/** Starts a conversation that no other test uses. */
export async function startConversation(window: Page): Promise<void> {
  await goTo(window, 'Chat');
  await expect(window.getByRole('textbox', { name: 'Your question' })).toBeVisible();
  await window.keyboard.press('Control+Shift+O');
  await expect(answers(window)).toHaveCount(0);
}

/** Sets a fixed strategy if a test depends on it: by default the app decides by measurements. */
export async function blendByDeviation(window: Page): Promise<void> {
  await window.getByRole('button', { name: /^Sources and settings for this conversation/ }).click();
  await window.getByRole('button', { name: 'Advanced' }).click();
  await window.getByRole('radio', { name: 'Blend by deviation', exact: true }).check();
  await window.keyboard.press('Escape');
}

/** Asks in the open conversation, and waits for the complete answer. */
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

/** Changes the newest answer where it is kept, and shows it: no model answers so when asked. */
export async function replaceAnswer(
  window: Page,
  dataDir: string,
  parts: Partial<Record<'text' | 'thinking' | 'notices' | 'citations' | 'stats', string>>,
): Promise<void> {
  await expect(answers(window).last()).toHaveAttribute('aria-busy', 'false', { timeout: ANSWER_MS });
  const database = new Database(join(dataDir, 'conversations.sqlite'));
  const newest = "(SELECT max(id) FROM message WHERE role = 'assistant')";
  for (const [column, value] of Object.entries(parts))
    database.prepare(`UPDATE message SET ${column} = ? WHERE id = ${newest}`).run(value);
  database.close();
  await window.reload();
}

/** Before the sample library was read, a question finds nothing. After first use, a line says that documents are ready. */
export async function documentsRead(window: Page): Promise<void> {
  const states = window.getByRole('list', { name: 'What is ready' });
  const shown = states.or(window.getByText(/ready for questions\./)).first();
  await shown.waitFor({ timeout: 2000 }).catch(() => undefined);
  if (await states.isVisible())
    await expect(states).toContainText(/Everything is precomputed|cannot blend|Nothing is precomputed/, {
      timeout: COMPUTED_MS,
    });
}

export function answers(window: Page): Locator {
  return window.getByRole('article', { name: 'Kvasir' });
}

export function stripOf(within: Locator | Page): Locator {
  return within.getByRole('group', { name: 'Answer statistics' });
}

/** Expands the sources and statistics below an answer, once available. */
export async function unfold(within: Locator | Page): Promise<void> {
  const strip = stripOf(within);
  await expect(strip).toBeVisible({ timeout: ANSWER_MS });
  const fold = strip.locator('button[aria-expanded]').first();
  if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click();
}

/** The sources below an answer, one button each. */
export function sourcesOf(answer: Locator): Locator {
  return answer.getByRole('group', { name: /^\d+ sources?$/ }).getByRole('button');
}
