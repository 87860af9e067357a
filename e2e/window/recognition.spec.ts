import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PDFDocument } from 'pdf-lib';
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
  writeFileSync(join(scans, 'lampen.pdf'), await scannedPdf(join(ROOT, 'tools/test-documents/pages/de.jpg')));
  copyFileSync(join(ROOT, 'tools/test-documents/pages/en.png'), join(scans, 'coffee.png'));
  await createLibrary(window, 'Kitchen');
  await dropInto(window, [scans]);
  await libraryDone(window, 'Kitchen', 2);
  await expect(rowOf(window, 'coffee.png')).toContainText('Ready');

  await rowOf(window, 'coffee.png').getByRole('link').click();
  await expect(window.getByRole('img', { name: 'coffee' })).toBeVisible();
  await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
  const text = window.getByRole('region', { name: /^Text of/ });
  await expect(text).toContainText('rinse the tank and the filter basket');
  await expect(text).toContainText('Page 1 (OCR)');

  await goTo(window, 'Search');
  await window.locator('main input[type=search]').fill('rinse the filter basket');
  await window.locator('[data-hit]').filter({ hasText: 'filter basket' }).first().click();
  const mark = window.locator('main button[aria-pressed] mark').first();
  const picture = await window.getByRole('img', { name: 'coffee' }).boundingBox();
  const place = await mark.boundingBox();
  expect(place && picture && place.y > picture.y && place.y < picture.y + picture.height).toBe(true);

  await goTo(window, 'Search');
  await window.locator('main input[type=search]').fill('Straßenbeleuchtung in der Altstadt');
  await window.locator('[data-hit]').filter({ hasText: 'Altstadt' }).first().click();
  await expect(window.locator('.textLayer mark').first()).toBeInViewport();

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

/** A blank page, and a picture on the next. */
async function scannedPdf(picture: string): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  pdf.addPage([600, 800]);
  const page = pdf.addPage([600, 400]);
  const image = await pdf.embedJpg(readFileSync(picture));
  page.drawImage(image, { x: 50, y: 60, ...image.scaleToFit(500, 300) });
  return pdf.save();
}
