import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './support/app.ts';
import { ask, QUESTION } from './support/chat.ts';
import { openSettings } from './support/screens.ts';
import { call, expect, test } from './support/test.ts';

test('everything is exported to a folder that a person names', async ({ window }) => {
  const folder = temporaryFolder();
  await ask(window, QUESTION);
  await openSettings(window, 'data');
  const section = window.getByRole('region', { name: 'Export everything' });
  const button = section.getByRole('button', { name: 'Export everything…' });
  await expect(button).toBeDisabled();

  await test.step('a path that is no full path says why', async () => {
    await section.getByRole('textbox', { name: 'Folder for the export' }).fill('out');
    await button.click();
    await expect(window.getByText('out is not a full path')).toBeVisible();
  });

  await test.step('the window says where the export is', async () => {
    const to = join(folder.path, 'out');
    await section.getByRole('textbox', { name: 'Folder for the export' }).fill(to);
    await button.click();
    await expect(window.getByText(`Exported to ${to}`)).toBeVisible({ timeout: 60_000 });
    expect(readdirSync(join(to, 'conversations')).filter((name) => name.endsWith('.md'))).toHaveLength(1);
    expect(existsSync(join(to, 'README.txt'))).toBe(true);
  });
  folder.remove();

  await test.step('a backup is made, and restored from the list or from a file once that is confirmed', async () => {
    await window.getByRole('button', { name: 'Back up now' }).click();
    await expect(window.getByText(/^Backed up to /)).toBeVisible();
    const [backup] = (await call(window, 'app.backups', {})) as { path: string }[];
    const chooser = window.waitForEvent('filechooser');
    await window.getByRole('button', { name: 'Restore from a file…' }).click();
    await (await chooser).setFiles(backup?.path ?? '');
    const dialog = window.getByRole('dialog', { name: 'Restore this backup?' });
    await expect(dialog).toContainText('.zip');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(dialog).toHaveCount(0);
    await window.getByRole('button', { name: 'Restore', exact: true }).first().click();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await expect(window.getByText('The backup is checked and ready')).toBeVisible();
  });
});
