import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { answers, ANSWER_MS, ask, QUESTION, sourcesOf, startConversation, stripOf } from './support/chat.ts';
import { addByPath, createLibrary, documentsOf, dropInto, libraryDone, rowOf } from './support/library.ts';
import { runCommand } from './support/palette.ts';
import { expect, goTo, test } from './support/test.ts';

const LEASE = '# Lease of the zebra barn\n\nThe zebra barn is let to Ada Dahl for 4,250 euros a year.\n';
/** None of its words occur in the lease. */
const GENERAL = 'Summarise everything?';

test('a file dropped on the chat is asked about, without waiting for it', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'zebra-lease.md'), LEASE);
  await startConversation(window);
  await dropInto(window, [join(folder.path, 'zebra-lease.md')]);
  await expect(chips(window)).toHaveCount(1);

  await test.step('the question goes as soon as it is read, and gets the whole document', async () => {
    const answer = await ask(window, GENERAL);
    await expect(sourcesOf(answer)).toHaveCount(1);
    await expect(answer).toContainText('Whole document');
    await expect(sourcesOf(answer).first()).toContainText('zebra barn');
  });

  await test.step('the conversation keeps to it until it is taken out', async () => {
    await window.reload();
    await expect(chips(window)).toContainText('Lease of the zebra barn');
    await chips(window)
      .getByRole('button', { name: /^Stop asking about/ })
      .click();
    await expect(chips(window)).toHaveCount(0);
  });
  folder.remove();
});

test('what cannot be read says so, and the question stays', async ({ sharedWindow: window }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'broken.pdf'), 'no pdf');
  writeFileSync(join(folder.path, 'program.exe'), 'no document');
  await startConversation(window);
  await dropInto(window, [join(folder.path, 'program.exe')]);
  await expect(chips(window)).toContainText(/program\.exe.+/);
  await dropInto(window, [join(folder.path, 'broken.pdf')]);
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill('What does it say?');
  await field.press('Enter');
  await expect(window.getByText('None of the selected documents can be read')).toBeVisible();
  await expect(field).toHaveValue('What does it say?');
  await expect(answers(window)).toHaveCount(0);
  folder.remove();
});

test('@ and a part of a name restrict the question, from the keyboard', async ({ sharedWindow: window }) => {
  await startConversation(window);
  const field = window.getByRole('textbox', { name: 'Your question' });
  const names = window.getByRole('listbox', { name: 'Documents and libraries' });
  await field.pressSequentially('Summarise @sampl');
  await expect(names.getByRole('option', { name: /^Sample library/ })).toHaveAttribute(
    'aria-selected',
    'true',
  );
  await window.keyboard.press('Escape');
  await expect(names).toBeHidden();
  await field.fill('');
  await field.pressSequentially('Tell me of @polaris');
  await expect(names.getByRole('option').first()).toContainText(/polaris/i);
  await window.keyboard.press('Enter');
  await expect(names).toBeHidden();
  await expect(field).toHaveValue('Tell me of ');
  await expect(chips(window)).toContainText([/polaris/i]);
});

test('Enter during an answer keeps the question and sends it afterwards', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill(QUESTION);
  await field.press('Enter');
  await field.fill('Who leads it?');
  await field.press('Enter');
  await expect(stripOf(answers(window).nth(1))).toBeVisible({ timeout: ANSWER_MS });
  await expect(window.getByRole('article', { name: 'You' }).nth(1)).toContainText('Who leads it?');
  await expect(field).toHaveValue('');
});

test('documents, a selection, a folder and a library are asked about from the library', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const docs = join(folder.path, 'docs');
  mkdirSync(docs);
  for (const name of ['heron', 'otter'])
    writeFileSync(join(docs, `${name}.md`), `# The ${name}\n\nThe ${name} eats fish.\n`);
  await createLibrary(window, 'Wildlife');
  await addByPath(window, [docs]);
  await libraryDone(window, 'Wildlife', 2);

  await rowOf(window, 'heron.md').getByRole('checkbox', { name: 'Select' }).click();
  await rowOf(window, 'otter.md').getByRole('checkbox', { name: 'Select' }).click();
  await window.getByRole('link', { name: 'Ask about these 2 documents' }).click();
  await expect(chips(window)).toContainText(['The heron', 'The otter']);
  await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
  const answer = await ask(window, GENERAL);
  await expect(sourcesOf(answer)).toHaveCount(2);

  await goTo(window, 'Library');
  await window.getByRole('link', { name: 'Wildlife' }).click();
  await documentsOf(window, 'Wildlife').getByRole('link', { name: 'The otter' }).click();
  await window.getByRole('link', { name: 'Ask about this document' }).click();
  await expect(chips(window)).toContainText(['The otter']);
  await expect(answers(window)).toHaveCount(0);

  await goTo(window, 'Library');
  await window.getByRole('tab', { name: 'Sources' }).click();
  await window.getByRole('button', { name: /^Ask about these documents/ }).click();
  await expect(chips(window)).toContainText(['The heron', 'The otter']);

  await goTo(window, 'Library');
  await window.getByRole('button', { name: 'More: Wildlife' }).click();
  await window.getByRole('menuitem', { name: 'Ask about this library' }).click();
  await expect(chips(window)).toContainText(['Wildlife']);
  await chips(window).getByRole('button').click();
  folder.remove();
});

test('the palette finds documents by name and conversations by what was said', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await ask(window, QUESTION);
  await goTo(window, 'Library');
  await runCommand(window, 'Ask a new question');
  await expect(answers(window)).toHaveCount(0);
  await window.keyboard.press('Control+K');
  await window.getByPlaceholder('What would you like to do?').fill('Project Polaris run');
  await window.getByRole('dialog').getByRole('button', { name: QUESTION }).first().click();
  await expect(answers(window)).toHaveCount(1);
  await window.keyboard.press('Control+K');
  await window.getByPlaceholder('What would you like to do?').fill('polaris');
  await window
    .getByRole('dialog')
    .getByRole('button', { name: /polaris\.md/i })
    .first()
    .click();
  await expect(window).toHaveURL(/#\/document\//);
});

test('the chat names its model, and Tab and the skip link lead to the question', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await window.getByRole('button', { name: /^Chat model: / }).click();
  await expect(window.getByRole('menuitem').first()).toContainText(/In use|[KMG]B/);
  await expect(window.getByRole('menuitem', { name: 'Manage models' })).toBeVisible();
  await window.keyboard.press('Escape');

  await window.reload();
  await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
  await window.getByRole('link', { name: 'Skip to content' }).press('Enter');
  await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
  const stops = window.getByRole('complementary', { name: 'Conversations' }).locator('li [tabindex="0"]');
  await expect(stops).toHaveCount(2); // one conversation and its menu, however many there are
});

test('the send button stays at the end of a narrow composer', async ({ sharedWindow: window }) => {
  await window.setViewportSize({ width: 1024, height: 700 });
  await startConversation(window);
  await ask(window, QUESTION);
  await window.getByRole('button', { name: 'Details' }).click();
  await expect(window.getByRole('complementary', { name: 'Fusion report' })).toBeVisible();
  const send = await window.getByRole('button', { name: 'Send' }).boundingBox();
  const field = await window.getByRole('textbox', { name: 'Your question' }).boundingBox();
  const end = (box: typeof send): number => (box?.x ?? 0) + (box?.width ?? 0);
  expect(Math.abs(end(send) - end(field))).toBeLessThan(24);
});

function chips(window: Page): Locator {
  return window.getByRole('list', { name: 'Only about' }).getByRole('listitem');
}
