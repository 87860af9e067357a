import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import type { OutputOf } from '../../src-shared/contract/contract.ts';
import { startApp, temporaryFolder } from './support/app.ts';
import {
  ANSWER_MS,
  answers,
  ask,
  QUESTION,
  replaceAnswer,
  sourcesOf,
  startConversation,
  stripOf,
  unfold,
} from './support/chat.ts';
import { call, expect, openWindow, test } from './support/test.ts';

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

test('an answer marks what no passage says, and offers what can be done about it', async ({
  sharedWindow: window,
  sharedApp,
}) => {
  await startConversation(window);
  await ask(window, QUESTION);
  const { citations, stats } = await newestMessage(window);
  const text = 'It runs in Oslo.\n\n```js\nlet city = 1;\n```\n';
  await replaceAnswer(window, sharedApp.dataDir, {
    text,
    notices: JSON.stringify([
      { kind: 'queue-paused', message: 'One document is not ready.' },
      { kind: 'openings', message: 'Only openings were read.' },
    ]),
    citations: JSON.stringify([{ ...citations[0], reason: 'computed 1204' }]),
    stats: JSON.stringify({
      ...stats,
      stop: 'repetition',
      sentences: [{ start: 0, end: 16, sources: [] }],
      unsupported: [{ start: 11, end: 15 }],
    }),
  });
  const answer = answers(window).last();

  await test.step('a sentence of the model’s own, and a name that stands nowhere', async () => {
    await expect(answer.getByRole('img', { name: 'In no passage: the model’s own words' })).toBeVisible();
    await expect(answer.locator('mark[aria-description="Not in the passages"]')).toHaveText('Oslo');
    await expect(answer).toContainText('One name, number or date in this answer does not appear');
  });
  await test.step('the number of rows that a result was computed from', async () => {
    await unfold(answer);
    await expect(answer).toContainText('computed from 1,204 rows');
  });
  await test.step('its code is copied', async () => {
    await window.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await answer.getByRole('button', { name: 'Copy code' }).click();
    await expect.poll(() => window.evaluate(() => navigator.clipboard.readText())).toBe('let city = 1;');
  });
  await test.step('a paused queue is resumed', async () => {
    const resume = answer.getByRole('button', { name: 'Resume the queue' });
    await expect(resume).toBeHidden();
    await call(window, 'queue.pause', {});
    await resume.click();
    await expect(resume).toBeHidden();
    expect(await call(window, 'queue.status', {})).toMatchObject({ paused: false });
  });
  await test.step('the whole document is analysed with the question', async () => {
    await answer.getByRole('link', { name: 'Read all of it' }).click();
    await expect(window.getByRole('textbox', { name: 'Instruction' })).toHaveValue(QUESTION);
    await window.goBack();
  });
  await test.step('it is made again with more variety', async () => {
    await answer.getByRole('button', { name: 'Answer again with more variety' }).click();
    await expect(window.getByRole('group', { name: 'Versions' })).toContainText('2');
    await expect(answers(window).last()).toHaveAttribute('aria-busy', 'false', { timeout: ANSWER_MS });
    expect((await newestMessage(window)).text).not.toContain('Oslo');
  });
});

async function newestMessage(window: Page): Promise<OutputOf<'chat.get'>['messages'][number]> {
  const id = window.url().split('/').at(-1);
  const { messages } = (await call(window, 'chat.get', { id })) as OutputOf<'chat.get'>;
  return messages.reduce((newest, each) => (Number(each.id) > Number(newest.id) ? each : newest));
}

test('a conversation overrides sources and settings, and resets them', async ({ sharedWindow: window }) => {
  await startConversation(window);
  await ask(window, QUESTION);
  const id = window.url().split('/').at(-1);
  const options = async () => ((await call(window, 'chat.get', { id })) as OutputOf<'chat.get'>).options;
  const button = window.getByRole('button', { name: /^Sources and settings for this conversation/ });
  await button.click();
  const form = window.getByRole('dialog', { name: 'This conversation' });
  await form.getByRole('combobox', { name: 'Libraries to search' }).click();
  await form.getByRole('option', { name: 'Sample library' }).click();
  await window.keyboard.press('Tab');
  await form.getByRole('switch', { name: 'From your documents only' }).click({ force: true });
  await form
    .getByRole('switch', { name: 'Choose the number of passages automatically' })
    .click({ force: true });
  await form.getByRole('textbox', { name: 'Passages', exact: true }).fill('3');
  await window.keyboard.press('Enter');
  await form.getByRole('button', { name: 'Advanced' }).click();
  await form.getByRole('slider', { name: 'Temperature' }).press('End');
  await expect.poll(options).toMatchObject({ strict: false, topK: 3, temperature: 2 });
  expect((await options()).scope.libraryIds).toHaveLength(1);
  await expect(button).toContainText('1 library · 3 passages');

  await form.getByRole('button', { name: 'Reset to defaults' }).click();
  await expect.poll(options).toEqual({ scope: { libraryIds: [], documentIds: [] } });
  await expect(button).toContainText('All libraries');
});

test('files are added with the button beside the question, which then is about them', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'otter.md');
  writeFileSync(path, 'The otter of the mill is called Brine.');
  await startConversation(window);
  const chooser = window.waitForEvent('filechooser');
  await window.getByRole('button', { name: 'Add files and ask about them' }).click();
  await (await chooser).setFiles(path);
  await expect(window.getByRole('list', { name: 'Only about' })).toContainText('otter');
  const answer = await ask(window, 'What is the otter called?');
  await expect(sourcesOf(answer).first()).toContainText('otter');
  folder.remove();
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
