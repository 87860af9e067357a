import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { withMetadata } from '../support/gguf-metadata.ts';
import { ANSWER_MS, answers, ask, QUESTION, replaceAnswer, startConversation } from './support/chat.ts';
import { importModel, useImported } from './support/models.ts';
import { createLibrary } from './support/library.ts';
import { expect, goTo, NO_BACKGROUND_WORK, test } from './support/test.ts';

const LONGEST = 16_000;

/** Whatever the model writes after this is a thought, until the end marker. */
const BEGINS_A_THOUGHT = `{% for m in messages %}{{ m.role }}: {{ m.content }}
{% endfor %}{{ "assistant: <think>\\n" }}`;

test.describe('a model that thinks without end', () => {
  test.use({
    // Kvasir stops a model that repeats itself; these sampling options prevent repetition.
    settings: async ({ dataDir }, use) => {
      const varied = { temperature: 2, repeatPenalty: 2, topK: 0, topP: 1, minP: 0 };
      await use({
        ...NO_BACKGROUND_WORK,
        maxTokens: LONGEST,
        sampling: { [join(dataDir, 'thinking-random.gguf')]: varied },
      });
    },
  });

  test('is seen thinking; stopped, it leaves the thought folded and no answer', async ({
    window,
    dataDir,
  }) => {
    test.slow();
    const path = join(dataDir, 'thinking-random.gguf');
    const shape = { layers: 24, embd: 512, ff: 1024, context: 2 * LONGEST, endless: true };
    const key = 'tokenizer.chat_template';
    const values = { [key]: BEGINS_A_THOUGHT };
    withMetadata(randomModel({ arch: 'llama', ...shape, seed: 3 }), path, { without: key, values });
    await importModel(window, path);
    await useImported(window);
    await createLibrary(window, 'Empty shelf');
    await goTo(window, 'Chat');
    const field = window.getByRole('textbox', { name: 'Your question' });
    await field.pressSequentially('@empty');
    await expect(window.getByRole('option', { name: /^Empty shelf/ })).toHaveAttribute(
      'aria-selected',
      'true',
    );
    await field.press('Enter');
    await field.fill('xylophone zeitgeist?');
    await field.press('Enter');
    await window.getByRole('button', { name: /own knowledge/ }).click({ timeout: ANSWER_MS });

    const answer = answers(window);
    const fold = answer.getByRole('button', { name: /^Thinking…/ });
    await expect(fold).toHaveAttribute('aria-expanded', 'false', { timeout: ANSWER_MS });
    await fold.click();
    const thought = answer.getByRole('region', { name: 'Model’s thoughts' });
    const length = async (): Promise<number> => (await thought.innerText()).length;
    const before = await length();
    await expect.poll(length).toBeGreaterThan(before);
    await window.getByRole('button', { name: 'Stop answering' }).click();
    await expect(answer.getByRole('button', { name: /^Thought for .* tokens?$/ })).toBeVisible();
    await expect(answer).toContainText('Stopped. The text so far is kept.');
    await expect(answer.getByRole('button', { name: 'Copy answer', exact: true })).toHaveCount(0);
    await expect(answer.getByRole('button', { name: 'Continue' })).toBeVisible();
  });
});

test('a thought that is kept stands folded above its answer, and is not copied with it', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  await startConversation(window);
  await ask(window, QUESTION);
  const thinking = { text: 'Polaris is a project.\n\nWhere does it run?', ms: 12_300, tokens: 1234 };
  await replaceAnswer(window, dataDir, { thinking: JSON.stringify(thinking) });

  await window.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const answer = answers(window);
  const fold = answer.getByRole('button', { name: 'Thought for 12 sec 1,234 tokens' });
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await expect(answer).not.toContainText('Where does it run?');
  await fold.press('Enter');
  await expect(answer.getByRole('region', { name: 'Model’s thoughts' })).toHaveText(thinking.text);
  await fold.press('Enter');
  await expect(answer).not.toContainText('Where does it run?');
  await answer.getByRole('button', { name: 'Copy answer', exact: true }).click();
  const copied = await window.evaluate(() => navigator.clipboard.readText());
  expect(copied).not.toBe('');
  expect(copied).not.toContain('Where does it run?');
  const exported = async (name: string): Promise<string> => {
    await window
      .getByRole('button', { name: `Actions for “${QUESTION}”` })
      .first()
      .click();
    const download = window.waitForEvent('download');
    await window.getByRole('menuitem', { name, exact: true }).click();
    return readFileSync(await (await download).path(), 'utf8');
  };
  expect(await exported('Export as Markdown')).not.toContain('Where does it run?');
  expect(await exported('Export as Markdown, with thoughts')).toContain('> Where does it run?');
});
