/** Tools in a conversation: a model on a server calls the tool of a real MCP server, and the person decides about it. */
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { begin, hostileServer, stream, type HostileServer } from '../support/hostile-server.ts';
import { violationsIn } from './support/axe.ts';
import { ANSWER_MS, answers, QUESTION, startConversation } from './support/chat.ts';
import { ROOT } from './support/root.ts';
import { call, expect, test } from './support/test.ts';

const SERVER = join(ROOT, 'e2e', 'support', 'mcp-server-child.ts');
const ASKED = 'May the model use “Echo” of “test”?';

test.use({ settings: { maxTokens: 64 } });

test.beforeEach(async ({ sharedApp: { dataDir }, sharedWindow }) => {
  const broken = { command: join(dataDir, 'no-such-program') };
  const mcpServers = { test: { command: process.execPath, args: [SERVER] }, broken };
  await call(sharedWindow, 'tools.importServers', { text: JSON.stringify({ mcpServers }) });
});

test.afterEach(async ({ sharedWindow }) => {
  for (const name of ['test', 'broken']) await call(sharedWindow, 'tools.removeServer', { name });
});

/** Calls the tool once for each question, then says what it returned. */
async function callingModel(window: Page, text = 'Ahoy'): Promise<HostileServer> {
  const server = await hostileServer();
  server.answer = (response, { url, body: { messages = [], tools } }) => {
    const last = messages.at(-1);
    if (url.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"object":"list","data":[{"id":"caller","max_model_len":8192}]}');
    } else if (last?.role === 'tool') stream(response, [`It says: ${last.content}`]);
    else if (tools === undefined) stream(response, ['No tools.']);
    else callTool(response, 'test__echo', { text });
  };
  const added = await call(window, 'models.addServer', { address: server.address, model: 'caller' });
  await call(window, 'models.activate', { id: (added as { id: string }).id });
  return server;
}

function callTool(response: ServerResponse, name: string, args: object): void {
  begin(response, ['I ask the server.']);
  const called = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  };
  for (const choice of [
    { delta: { tool_calls: [called] }, finish_reason: null },
    { delta: {}, finish_reason: 'tool_calls' },
  ])
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}

async function askNext(window: Page, question: string): Promise<Locator> {
  const field = window.getByRole('textbox', { name: 'Your question' });
  await field.fill(question);
  await field.press('Enter');
  return answers(window).last();
}

test('a call asks for permission, runs and shows its result; a refusal goes back to the model', async ({
  sharedWindow: window,
}) => {
  test.slow();
  const server = await callingModel(window);
  await startConversation(window);
  await test.step('nothing is chosen by default', async () => {
    await window.getByRole('button', { name: 'Tools for this conversation', exact: true }).click();
    const form = window.getByRole('group', { name: 'Tools for this conversation' });
    await expect(form.getByRole('checkbox', { name: 'Kvasir’s tools' })).not.toBeChecked();
    await form.getByRole('checkbox', { name: 'test' }).check();
    await expect(form.getByRole('note')).toHaveCount(0); // nobody knows whether it has tools
    expect(await violationsIn(window)).toEqual([]);
    await window.keyboard.press('Escape');
    await expect(window.getByRole('button', { name: 'Tools for this conversation: 1 chosen' })).toBeVisible();
  });

  const answer = await askNext(window, QUESTION);
  const card = answer.getByRole('region', { name: ASKED });
  await test.step('while it waits, the card, the list and the title say so, also after a reload', async () => {
    await expect(card.getByRole('alert')).toHaveText(ASKED);
    await expect(card).toContainText('Repeats a text.');
    await expect(card).toContainText('"text": "Ahoy"');
    const waits = window.getByRole('complementary').getByRole('img', { name: 'Waits for your permission' });
    await expect(waits).toBeVisible();
    await expect(window).toHaveTitle('Waits for your permission – Kvasir');
    expect(await violationsIn(window)).toEqual([]);
    await window.reload();
    await expect(card).toContainText('"text": "Ahoy"');
    await expect(waits).toBeVisible();
  });
  await test.step('in the dark and at 200 % it is legible and can be answered', async () => {
    await window.emulateMedia({ colorScheme: 'dark' });
    await expect(window.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
    expect(await violationsIn(window, { rules: ['color-contrast'] })).toEqual([]);
    await window.emulateMedia({ colorScheme: 'light' });
    await window.setViewportSize({ width: 640, height: 400 });
    await card.getByRole('button', { name: 'Allow once' }).focus();
    await expect(card.getByRole('button', { name: 'Allow once' })).toBeInViewport({ ratio: 1 });
    await window.setViewportSize({ width: 1280, height: 800 });
  });
  const line = answer
    .getByRole('list', { name: 'Tools used' })
    .getByRole('button', { name: /^Echo Ahoy Done/ });
  await test.step('allowed by the keyboard, it runs; the line has the focus and opens', async () => {
    await card.getByRole('button', { name: 'Allow once' }).press('Enter');
    await expect(line).toBeFocused();
    await expect(answer).toContainText('It says: Ahoy');
    await expect(window).toHaveTitle('Kvasir');
    await line.press('Enter');
    await expect(line).toHaveAttribute('aria-expanded', 'true');
    await expect(answer.getByText('Ahoy', { exact: true }).last()).toBeVisible();
    await expect(answer).toContainText('test__echo, a tool of the MCP server “test”');
    expect(await violationsIn(window)).toEqual([]);
  });
  await test.step('a copy has its text without the call, or with a line about it', async () => {
    await window.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (name: string): Promise<string> => {
      await answer.getByRole('button', { name, exact: true }).click();
      return window.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('Copy answer')).toBe('I ask the server.\n\nIt says: Ahoy');
    expect(await copied('Copy answer with its sources')).toMatch(
      /^I ask the server\.[^]*\n\n> Echo: Ahoy\n\nIt says: Ahoy/,
    );
  });
  await test.step('on paper the call is a line of text', async () => {
    await window.emulateMedia({ media: 'print' });
    await expect(answer.getByText(/^Echo: Ahoy \(Done/)).toBeVisible();
    await expect(line).toBeHidden();
    await window.emulateMedia({ media: null });
  });
  await test.step('a refusal goes to the model; a tool that is always allowed does not ask again', async () => {
    const refused = await askNext(window, 'And now?');
    await refused.getByRole('button', { name: 'Don’t allow' }).click();
    await expect(refused.getByRole('button', { name: /^Echo Ahoy Not allowed/ })).toBeVisible();
    await expect(refused).toContainText('It says: ');
    const always = await askNext(window, 'And always?');
    await always.getByRole('button', { name: 'Always allow' }).click();
    await expect(always).toContainText('It says: Ahoy');
    await expect(await askNext(window, 'Once more?')).toContainText('It says: Ahoy');
    await expect(window.getByRole('button', { name: 'Allow once' })).toHaveCount(0);
  });
  await server.close();
});

test('a result that is too long for the model is marked, and its card says how much is missing', async ({
  sharedWindow: window,
}) => {
  const server = await callingModel(window, 'Ahoy '.repeat(10_000));
  await startConversation(window);
  await window.getByRole('button', { name: 'Tools for this conversation', exact: true }).click();
  await window.getByRole('checkbox', { name: 'test' }).check();
  await window.keyboard.press('Escape');
  const answer = await askNext(window, QUESTION);
  await answer.getByRole('button', { name: 'Allow once' }).click();
  const line = answer.getByRole('button', { name: /^Echo Ahoy .* Done · .* · shortened$/ });
  await line.click();
  const [, cutOff = ''] =
    /\[(\d+) more characters were cut off\.\]/.exec((await answer.textContent()) ?? '') ?? [];
  const shown = Number(cutOff).toLocaleString('en-US');
  await expect(answer).toContainText(`the model, which did not receive its last ${shown} characters.`);
  expect(await violationsIn(window)).toEqual([]);
  await server.close();
});

test('a model whose template has no tools is named, and so is a server that does not start', async ({
  sharedWindow: window,
}) => {
  await startConversation(window);
  await window.getByRole('button', { name: 'Tools for this conversation', exact: true }).click();
  await expect(window.getByRole('note')).toContainText('The chat template of Kvasir demo has no tools.');
  await window.getByRole('checkbox', { name: 'broken' }).check();
  await window.keyboard.press('Escape');
  const answer = await askNext(window, QUESTION);
  await expect(
    window.getByRole('button', { name: /1 chosen\. “broken” could not be started\.$/ }),
  ).toBeVisible();
  await expect(answer).toContainText('Polaris', { timeout: ANSWER_MS });
  expect(await violationsIn(window)).toEqual([]);
  await window.getByRole('button', { name: /1 chosen/ }).click();
  await window.getByRole('link', { name: 'Manage MCP servers' }).click();
  await expect(window.getByRole('region', { name: 'Tools', exact: true })).toContainText('broken');
});
