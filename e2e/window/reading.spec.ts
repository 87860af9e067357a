import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { answers, ANSWER_MS, ask, documentsRead, startConversation, stripOf } from './support/chat.ts';
import { createLibrary, dropInto } from './support/library.ts';
import { expect, test } from './support/test.ts';

const LEASE = '# Lease of the zebra barn\n\nThe zebra barn is let to Ada Dahl for 4,250 euros a year.\n';

test('what a question reads is shown beforehand, and its share with the answer', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'zebra-lease.md'), LEASE);
  await startConversation(window);
  await expect(field(window)).toHaveAccessibleDescription('');
  await dropInto(window, [join(folder.path, 'zebra-lease.md')]);
  await expect(field(window)).toHaveAccessibleDescription(
    /^Reads the whole document · \d+ tokens, \d+ of them cached/,
  );
  const answer = await ask(window, 'Worum geht es?');
  await expect(answer).toContainText(/read whole: \d+ tokens/);
  folder.remove();
});

test('too many documents are read in openings, and the notice tells how much', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await documentsRead(window);
  await field(window).fill('xylophone zeitgeist?');
  await expect(field(window)).toHaveAccessibleDescription(
    /^Reads outlines and openings of \d+ documents · [\d,]+ tokens/,
  );
  await field(window).press('Enter');
  const notice = answers(window).getByRole('note').filter({ hasText: 'openings' });
  await expect(notice).toContainText(
    /the answer is based on the openings of \d+ of \d+ documents, [\d,]+ of [\d,]+ tokens/,
  );
  await expect(stripOf(answers(window))).toBeVisible({ timeout: ANSWER_MS });
});

test('without documents the model is not asked, unless the reader wants it', async ({
  sharedWindow: window,
}) => {
  await createLibrary(window, 'Empty shelf');
  await startConversation(window);
  await field(window).pressSequentially('@empty');
  const option = window.getByRole('option', { name: /^Empty shelf/ });
  await expect(option).toHaveAttribute('aria-selected', 'true');
  await window.keyboard.press('Enter');
  await field(window).fill('xylophone zeitgeist?');
  await expect(field(window)).toHaveAccessibleDescription('Reads no document');
  await field(window).press('Enter');
  await expect(answers(window).getByRole('status')).toContainText('was not asked to guess');
  await answers(window)
    .getByRole('button', { name: /own knowledge/ })
    .click();
  await expect(stripOf(answers(window))).toBeVisible({ timeout: ANSWER_MS });
  await expect(answers(window).getByRole('note')).toContainText('No document matches');
});

/** The input, described by the line below it. */
function field(window: Page): Locator {
  return window.getByRole('textbox', { name: 'Your question' });
}
