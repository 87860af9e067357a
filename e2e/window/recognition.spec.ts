import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './support/app.ts';
import { createLibrary, dropInto, libraryDone, rowOf } from './support/library.ts';
import { ROOT } from './support/root.ts';
import { expect, goTo, test } from './support/test.ts';

test('a dropped scan is recognised and marked; the switch is in the settings', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const scans = join(folder.path, 'Manuals');
  mkdirSync(scans);
  copyFileSync(join(ROOT, 'tools/test-documents/pages/en.png'), join(scans, 'coffee.png'));
  await createLibrary(window, 'Kitchen');
  await dropInto(window, [scans]);
  await libraryDone(window, 'Kitchen', 1);
  await expect(rowOf(window, 'coffee.png')).toContainText('Ready');

  await rowOf(window, 'coffee.png').getByRole('link').click();
  await expect(window.getByRole('img', { name: 'coffee' })).toBeVisible();
  await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
  const text = window.getByRole('region', { name: /^Text of/ });
  await expect(text).toContainText('rinse the tank and the filter basket');
  await expect(text).toContainText('Page 1 (OCR)');

  await goTo(window, 'Settings');
  await window.locator('main nav button').filter({ hasText: 'Documents' }).click();
  const recognise = window.getByRole('switch', { name: 'Recognise text in pictures' });
  await expect(recognise).toBeChecked();
  await recognise.click({ force: true });
  await expect(recognise).not.toBeChecked();
  await recognise.click({ force: true });
  await expect(recognise).toBeChecked();
  folder.remove();
});
