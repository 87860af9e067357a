/** A remote model in the window: it is added, shows where questions go, and answers; its failures are reported. */
import type { Page } from '@playwright/test';
import { begin, hostileServer, refuse, stream } from '../support/hostile-server.ts';
import { violationsIn } from './support/axe.ts';
import { answers, ask, QUESTION, sourcesOf, startConversation, stripOf } from './support/chat.ts';
import { chatModels } from './support/models.ts';
import { expect, goTo, test } from './support/test.ts';

const KEY = 'sk-window-0123456789';
const USAGE = { prompt_tokens: 1234, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1024 } };

test.use({ settings: { chunkTokens: 96, maxTokens: 24 } });

async function addServer(window: Page, address: string, separator = ''): Promise<void> {
  await goTo(window, 'Models');
  await window.getByRole('button', { name: 'Add a server…' }).click();
  const dialog = window.getByRole('dialog', { name: 'Add a model on a server' });
  await dialog.getByLabel('Address').fill(address);
  await dialog.getByRole('textbox', { name: 'Key (optional)' }).fill(KEY);
  await dialog.getByRole('button', { name: 'List its models' }).click();
  await dialog.getByRole('textbox', { name: 'Separator' }).fill(separator);
  expect(await violationsIn(window)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

test('a model on a server is added, used and asked; the window says where questions go', async ({
  sharedWindow: window,
}) => {
  const server = await hostileServer();
  server.answer = (response, { url }) => {
    if (url.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"object":"list","data":[{"id":"big-model","max_model_len":8192}]}');
    } else stream(response, ['In Riga', ', I think.'], USAGE);
  };
  await addServer(window, server.address, ' # # ');
  const models = chatModels(window);
  await expect(models.getByText('big-model', { exact: true })).toBeVisible();
  await expect(models.getByText(`go to ${server.host}, which is on this computer`)).toBeVisible();
  await expect(
    models.getByText(/Context 8,192 · Key in a file only you can read · Passages joined by/),
  ).toBeVisible();
  await models.getByRole('button', { name: 'Use', exact: true }).click();
  await expect(window.getByRole('dialog')).toContainText('Nothing is precomputed on this machine');
  await window.getByRole('button', { name: 'Use this model' }).click();
  await expect(models.locator('[data-active]')).toContainText('big-model');

  await startConversation(window);
  await expect(window.getByRole('note', { name: new RegExp(`big-model · ${server.host}`) })).toBeVisible();
  const answer = await ask(window, QUESTION);
  await expect(answer).toContainText('In Riga, I think.');
  await expect(sourcesOf(answer).first()).toBeVisible();
  const strip = stripOf(answer);
  await expect(strip).toContainText('1,234 tokens sent · 1,024 of them from the server’s cache · 2 written');
  await expect(strip.getByRole('button', { name: 'Details' })).toHaveCount(0);
  expect(await violationsIn(window)).toEqual([]);

  await test.step('a failure keeps the question, and is told', async () => {
    server.answer = (response) => refuse(response, 429, { message: 'No.', code: 'insufficient_quota' });
    await window.getByRole('textbox', { name: 'Your question' }).fill('And where was that?');
    await window.keyboard.press('Enter');
    await expect(answers(window).last()).toContainText('has used up its quota (429).');
    await expect(window.getByText('And where was that?').first()).toBeVisible();
  });
  await test.step('while it waits it says for what, and it can be stopped', async () => {
    server.answer = (response) => begin(response, []);
    await answers(window).last().getByRole('button', { name: /again/i }).first().click();
    await expect(answers(window).last()).toContainText(`to ${server.host}; waiting for its first token`);
    await window.getByRole('button', { name: 'Stop' }).click();
    // The rewriting of the question, which took too long, and the answer.
    await expect.poll(() => server.left).toBe(2);
  });
  await test.step('another separator, context and silence are taken, and its name and key stay', async () => {
    await goTo(window, 'Models');
    await expect(models.getByText(/First token after/)).toBeVisible();
    await models.getByRole('button', { name: 'More: big-model' }).click();
    await window.getByRole('menuitem', { name: 'Rename…' }).click();
    await window.getByRole('textbox', { name: 'Name' }).fill('Ours');
    await window.getByRole('button', { name: 'Save' }).click();
    await models.getByRole('button', { name: 'More: Ours' }).click();
    await window.getByRole('menuitem', { name: 'Edit settings…' }).click();
    const dialog = window.getByRole('dialog', { name: 'Settings for Ours' });
    await expect(dialog.getByRole('textbox', { name: 'Separator' })).toHaveValue(' # # ');
    await expect(dialog.getByRole('textbox', { name: 'Context' })).toHaveValue('8192');
    await expect(window.getByRole('menu')).toBeHidden(); // it fades
    expect(await violationsIn(window)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Separator' }).fill('~~');
    await dialog.getByRole('textbox', { name: 'Context' }).fill('4096');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(
      models.getByText(/Context 4,096 · Key in a file only you can read · Passages joined by “~~”/),
    ).toBeVisible();
    await expect(models.locator('[data-active]')).toContainText('Ours');
    server.answer = (response, { body }) =>
      stream(response, [JSON.stringify(body).includes('~~') ? 'By it.' : 'Not.'], USAGE);
    await startConversation(window);
    await expect(await ask(window, QUESTION)).toContainText('By it.');
  });
  await test.step('it is removed like any other', async () => {
    await goTo(window, 'Models');
    await models.getByRole('button', { name: 'More: Ours' }).click();
    await window.getByRole('menuitem', { name: 'Change key…' }).click();
    await window.getByRole('button', { name: 'Forget the key' }).click();
    await expect(models.getByText(/No key/)).toBeVisible();
    await models.getByRole('button', { name: 'More: Ours' }).click();
    await window.getByRole('menuitem', { name: 'Remove' }).click();
    await window.getByRole('button', { name: 'Remove' }).click();
    await expect(models.getByText('Ours', { exact: true })).toHaveCount(0);
  });
  await server.close();
});

test('before anything is sent it is said when questions would leave the computer', async ({
  sharedWindow: window,
}) => {
  await goTo(window, 'Models');
  await window.getByRole('button', { name: 'Add a server…' }).click();
  const dialog = window.getByRole('dialog', { name: 'Add a model on a server' });
  const address = dialog.getByLabel('Address');
  await address.fill('http://192.168.7.9:8000/v1');
  await expect(dialog).toContainText('leave this computer: they go to 192.168.7.9:8000 in your network');
  await expect(dialog).toContainText('not encrypted (http)');
  await address.fill('https://api.example.com/v1');
  await expect(dialog).toContainText('leave this computer: they go to api.example.com.');
  await expect(dialog).not.toContainText('not encrypted');
});
