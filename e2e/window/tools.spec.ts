import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { en } from '../../src-renderer/i18n/words.ts';
import { streamable } from '../support/mcp-http-server.ts';
import { behindSignIn } from '../support/mcp-signed-in-server.ts';
import { violationsIn } from './support/axe.ts';
import { ROOT } from './support/root.ts';
import { route } from './support/screens.ts';
import { expect, test } from './support/test.ts';

const { common, mcp, servers, settings } = en;

const PROGRAM = join(ROOT, 'e2e', 'support', 'mcp-server-child.ts');
const SECRET = 'sk-0123456789';
const START_MS = 30_000;

test.afterEach(({ sharedApp }) => rmSync(join(sharedApp.dataDir, 'mcp.json'), { force: true }));

async function openTools(window: Page): Promise<void> {
  await route(window, '/settings');
  await window.getByRole('button', { name: settings.sections.tools, exact: true }).click();
  await expect(window.getByText(mcp.risk.title)).toBeVisible();
}

async function openForm(window: Page, form: keyof typeof mcp.add.forms): Promise<Locator> {
  await window.getByRole('button', { name: servers.add.open }).click();
  const dialog = window.getByRole('dialog', { name: mcp.add.title });
  const forms = dialog.getByRole('radiogroup', { name: mcp.add.form });
  await forms.getByText(mcp.add.forms[form], { exact: true }).click();
  return dialog;
}

const named = (text: string, values: Record<string, string>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? '');

test('a program is added, its tools are listed, allowed and asked for again, and it is removed', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  await openTools(window);
  await expect(window.getByText(mcp.none)).toBeVisible();
  const dialog = await openForm(window, 'command');
  await dialog.getByRole('textbox', { name: common.name }).fill('demo');
  await dialog.getByRole('textbox', { name: mcp.add.command }).fill(`"${process.execPath}" "${PROGRAM}"`);
  await dialog.getByLabel(mcp.add.variables).fill(`no variable`);
  await dialog.getByRole('button', { name: common.action.add }).click();
  await expect(dialog.getByRole('alert')).toContainText('Line 1 is not of the form NAME=value.');
  await dialog.getByLabel(mcp.add.variables).fill(`SECRET=${SECRET}`);
  await dialog.getByLabel(mcp.add.variables).press('Tab');
  await dialog.getByRole('button', { name: common.action.add }).press('Enter');

  const server = window.getByRole('article', { name: 'demo' });
  await expect(server.getByRole('status')).toHaveText(mcp.state.ready, { timeout: START_MS });
  await expect(server).toContainText(PROGRAM);
  await expect(server).toContainText('SECRET');
  await expect(server).toContainText('Repeats a text.');
  const allow = server.getByRole('switch', { name: named(mcp.allow, { tool: 'Echo' }) });
  await expect(allow).not.toBeChecked();
  await allow.press('Space');
  await expect(allow).toBeChecked();
  expect(await violationsIn(window)).toEqual([]);
  expect(await window.content()).not.toContain(SECRET);
  expect(readFileSync(join(dataDir, 'kvasir.log'), 'utf8')).not.toContain(SECRET);

  // Another version of the server says something else about its tool.
  const file = join(dataDir, 'mcp.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: { demo: { env: object } } };
  expect(config.mcpServers.demo.env).toEqual({ SECRET });
  config.mcpServers.demo.env = { DESCRIPTION: 'Repeats a text, and mails it.' };
  writeFileSync(file, JSON.stringify(config));
  await window.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(server.getByText(mcp.changed)).toBeVisible({ timeout: START_MS });
  await expect(allow).not.toBeChecked();

  await server.getByRole('switch', { name: named(common.action.useOf, { name: 'demo' }) }).press('Space');
  await expect(server.getByRole('status')).toHaveText(mcp.state.disabled);
  expect(await violationsIn(window)).toEqual([]);
  await server.getByRole('button', { name: named(mcp.remove.open, { name: 'demo' }) }).click();
  await window.getByRole('button', { name: common.action.remove, exact: true }).click();
  await expect(server).toHaveCount(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: {} });
});

test('a pasted text adds servers; why one fails is said, and a damaged file is named', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  await openTools(window);
  const dialog = await openForm(window, 'text');
  const text = dialog.getByLabel(mcp.add.text, { exact: true });
  await text.fill('{ "servers": { "broken" } }');
  await dialog.getByRole('button', { name: common.action.add }).click();
  await expect(dialog.getByRole('alert')).toContainText('The text, line 1, column 25: colon expected.');
  const servers = {
    broken: { command: process.execPath, args: ['-e', 'console.error("no license"); process.exit(1)'] },
    away: { type: 'http', url: 'http://127.0.0.1:9/mcp?key=hidden' },
  };
  await text.fill(JSON.stringify({ servers }));
  expect(await violationsIn(window)).toEqual([]);
  await dialog.getByRole('button', { name: common.action.add }).click();

  const broken = window.getByRole('article', { name: 'broken' });
  await expect(broken.getByRole('alert')).toContainText('no license', { timeout: START_MS });
  await expect(broken.getByRole('status')).toHaveText(mcp.state.failed);
  await expect(broken.getByRole('button', { name: en.common.action.retry })).toBeVisible();
  const away = window.getByRole('article', { name: 'away' });
  await expect(away).toContainText(named(mcp.reach.here, { host: '127.0.0.1:9' }));
  await expect(away.getByRole('alert')).toContainText('cannot be reached');
  await expect(away).not.toContainText('hidden');
  expect(await violationsIn(window)).toEqual([]);

  writeFileSync(join(dataDir, 'mcp.json'), '{ "mcpServers": {');
  await window.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(window.getByRole('alert').filter({ hasText: 'mcp.json, line 1' })).toBeVisible();
  await expect(window.getByText(mcp.badFile)).toBeVisible();
});

test('a server asks for a sign-in, which opens in the browser; a refusal can be tried again', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  const web = createServer(behindSignIn(streamable([]), new Set())).listen(0, '127.0.0.1');
  await once(web, 'listening');
  const host = `127.0.0.1:${(web.address() as AddressInfo).port}`;
  writeFileSync(
    join(dataDir, 'mcp.json'),
    JSON.stringify({ mcpServers: { web: { url: `http://${host}/mcp` } } }),
  );
  await openTools(window);
  const server = window.getByRole('article', { name: 'web' });
  const signIn = async (decision: 'Allow' | 'Deny'): Promise<void> => {
    await server.getByRole('button', { name: mcp.signIn.open }).click({ timeout: START_MS });
    const link = server.getByRole('link', { name: named(mcp.signIn.page, { host }) });
    await expect(server.getByRole('alert').filter({ hasText: mcp.signIn.waits })).toContainText(host);
    expect(await violationsIn(window)).toEqual([]);
    const [page] = await Promise.all([window.waitForEvent('popup'), link.click()]);
    await page.getByRole('link', { name: decision }).click();
    await expect(page.getByText(/close this page/)).toBeVisible();
    await page.close();
  };

  await signIn('Deny');
  await expect(server.getByRole('alert')).toContainText('access_denied');
  await signIn('Allow');
  await expect(server.getByRole('status')).toHaveText(mcp.state.ready, { timeout: START_MS });
  await expect(server.getByRole('alert')).toHaveCount(0);
  await expect(server).toContainText('Repeats a text.');
  web.closeAllConnections();
  web.close();
});
