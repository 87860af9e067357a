import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { en } from '../../src-renderer/i18n/words.ts';
import { SharingSchema } from '../../src-shared/sharing.ts';
import { expect, goTo, test } from './support/test.ts';

const { common, sharing, settings } = en;

test.use({ settings: { sharing: SharingSchema.parse({}) } });

async function openSharing(window: Page): Promise<void> {
  await goTo(window, 'Settings');
  await window.getByRole('button', { name: settings.sections.sharing }).click();
}

async function fill(window: Page, label: string, text: string): Promise<void> {
  const field = window.getByRole('textbox', { name: label });
  await field.fill(text);
  await field.press('Enter');
}

const testConnection = (window: Page): Promise<void> =>
  window.getByRole('button', { name: sharing.test.button }).click();

test('a folder is set up, tested, filled and told about', async ({ sharedWindow: window }) => {
  const folder = temporaryFolder();
  const shared = join(folder.path, 'nas');
  await openSharing(window);
  await window.getByRole('radiogroup', { name: sharing.kind }).getByText(sharing.kinds.folder).click();
  await expect(window.getByText(sharing.privacy)).toBeVisible();
  await testConnection(window);
  await expect(window.getByRole('alert').filter({ hasText: 'not set up completely' })).toBeVisible();

  await fill(window, sharing.folder.path, shared);
  await testConnection(window);
  await expect(window.getByRole('alert').filter({ hasText: `Folder not found: ${shared}.` })).toBeVisible();
  mkdirSync(shared);
  await testConnection(window);
  await expect(window.getByText(`${shared} works`)).toBeVisible();

  await goTo(window, 'Cache');
  const status = window
    .getByRole('region', { name: 'The cache as a whole' })
    .or(window.getByRole('complementary'));
  await expect(status.getByText(/^Written: .+ of \d+ chunks?$/)).toBeVisible({ timeout: 60_000 });
  await expect(status.getByText(sharing.status.ready)).toBeVisible();
  expect(
    readdirSync(shared, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('.kvs')),
  ).toBe(true);
  folder.remove();
});

test('a secret is kept apart, told to be set, and never shown again', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  const secret = 'a passphrase of the team';
  await openSharing(window);
  await window.getByRole('radiogroup', { name: sharing.kind }).getByText(sharing.kinds.redis).click();
  const group = window.getByRole('group', { name: sharing.secrets.encryptionKey });
  await expect(group).toContainText(sharing.secrets.none);
  await group.getByRole('button', { name: sharing.secrets.enter }).click();
  await group
    .getByLabel(sharing.secrets.formFor.replace('{{name}}', sharing.secrets.encryptionKey))
    .fill(secret);
  await group.getByRole('button', { name: common.action.save }).click();
  await expect(group).toContainText('sharing-secrets.json');
  expect(await window.content()).not.toContain(secret);
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    if (statSync(path).isFile() && name !== 'sharing-secrets.json')
      expect(readFileSync(path).includes(secret), name).toBe(false);
  }
  await group.getByRole('button', { name: sharing.secrets.forget }).click();
  await expect(group).toContainText(sharing.secrets.none);
});

test('a key that was lost is asked for, and nothing is shared in the clear meanwhile', async ({
  sharedApp: { dataDir },
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const shared = folder.path;
  await openSharing(window);
  await window.getByRole('radiogroup', { name: sharing.kind }).getByText(sharing.kinds.folder).click();
  const key = window.getByRole('group', { name: sharing.secrets.encryptionKey });
  await key.getByRole('button', { name: sharing.secrets.enter }).click();
  await key
    .getByLabel(sharing.secrets.formFor.replace('{{name}}', sharing.secrets.encryptionKey))
    .fill('of the team');
  await key.getByRole('button', { name: common.action.save }).click();
  await expect(key).toContainText('sharing-secrets.json');

  rmSync(join(dataDir, 'sharing-secrets.json'));
  await fill(window, sharing.folder.path, shared);
  await expect(key).toContainText(sharing.secrets.lost);
  await testConnection(window);
  await expect(window.getByRole('alert').filter({ hasText: 'the key is not on this machine' })).toBeVisible();
  expect(readdirSync(shared)).toEqual([]);

  await key.getByRole('button', { name: sharing.secrets.doWithout }).click();
  await expect(key).toContainText(sharing.secrets.none);
  await testConnection(window);
  await expect(window.getByText(`${shared} works`)).toBeVisible();
  folder.remove();
});
