import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { ANSWER_MS, answers, QUESTION } from './support/chat.ts';
import { importModel, useImported } from './support/models.ts';
import { expect, goTo, NO_BACKGROUND_WORK, test } from './support/test.ts';

/** Maximum tokens: more than any machine generates while the test looks. */
const LONGEST = 16_000;

/** Characters; notices and placeholders shown before the first word are shorter. */
const LONGER_THAN_ANY_PHASE = 400;

test.use({
  // Kvasir stops a model that repeats itself; these sampling options prevent repetition.
  settings: async ({ dataDir }, use) => {
    const varied = { seed: 1, temperature: 2, repeatPenalty: 2, topK: 0, topP: 1, minP: 0 };
    await use({
      ...NO_BACKGROUND_WORK,
      maxTokens: LONGEST,
      sampling: { [join(dataDir, 'slow-random.gguf')]: varied },
    });
  },
});

test('a stopped answer keeps its words, and can be made again', async ({ window, dataDir }) => {
  test.slow();
  const path = join(dataDir, 'slow-random.gguf');
  const shape = { layers: 24, embd: 512, ff: 1024, context: 2 * LONGEST, endless: true };
  copyFileSync(randomModel({ arch: 'llama', ...shape, seed: 3 }), path);
  await importModel(window, path);
  await useImported(window);
  // Until the documents are split for this model, nothing is found and the model is not asked.
  await goTo(window, 'Search');
  let tries = 0;
  await expect(async () => {
    await window.getByRole('searchbox', { name: /./ }).fill(`Project Polaris ${'?'.repeat(++tries)}`);
    await expect(window.locator('[data-hit]').first()).toBeVisible({ timeout: 3000 });
  }).toPass({ timeout: ANSWER_MS });

  await goTo(window, 'Chat');
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill(QUESTION);
  await field.press('Enter');
  await expect
    .poll(() => lengthOf(answers(window)), { timeout: ANSWER_MS })
    .toBeGreaterThan(LONGER_THAN_ANY_PHASE);

  await test.step('the next question waits, and is edited and discarded', async () => {
    await field.fill('Who leads it?');
    await field.press('Enter');
    await expect(field).toHaveValue('');
    await window.getByRole('button', { name: 'Edit the waiting question' }).click();
    await expect(field).toHaveValue('Who leads it?');
    await field.press('Enter');
    await window.getByRole('button', { name: 'Discard the waiting question' }).click();
    await expect(window.getByText('Who leads it?')).toHaveCount(0);
  });

  await window.getByRole('button', { name: 'Stop answering' }).click();
  await expect(answers(window)).toContainText('Stopped. The text so far is kept.');
  await expect(window.getByRole('button', { name: 'Send' })).toBeVisible();
  expect(await lengthOf(answers(window))).toBeGreaterThan(LONGER_THAN_ANY_PHASE);

  await window.getByRole('button', { name: 'Answer again' }).click();
  await expect(answers(window)).toHaveAttribute('aria-busy', 'true');
  await expect
    .poll(() => lengthOf(answers(window)), { timeout: ANSWER_MS })
    .toBeGreaterThan(LONGER_THAN_ANY_PHASE);
  await field.press('Escape');
  await expect(answers(window)).toContainText('Stopped. The text so far is kept.');
  await expect(window.getByRole('group', { name: 'Versions' })).toContainText('2');
  await window.getByRole('button', { name: 'Previous version' }).click();
  await expect(answers(window)).toContainText('Stopped. The text so far is kept.');
  expect(await lengthOf(answers(window))).toBeGreaterThan(LONGER_THAN_ANY_PHASE);
});

/** Length of an answer's text so far, without its sources, which appear before the first word. */
async function lengthOf(answer: ReturnType<typeof answers>): Promise<number> {
  // Read in a single call: sources may arrive between two.
  return answer.evaluate((element: HTMLElement) => {
    const sources = [...element.querySelectorAll<HTMLElement>('[role="group"]')];
    return sources.reduce((length, { innerText }) => length - innerText.length, element.innerText.length);
  });
}
