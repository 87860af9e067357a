import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { violationsIn } from './support/axe.ts';
import { route } from './support/screens.ts';
import { expect, test } from './support/test.ts';
import { addViewerDocuments, SENTENCE } from './support/viewer-documents.ts';

test('each kind of document is shown as it looks, at the passage, and loads nothing', async ({
  sharedWindow: window,
}) => {
  test.slow();
  const heard: string[] = [];
  const listener = await listen(heard);
  const folder = temporaryFolder();
  const { port } = listener.address() as AddressInfo;
  const addresses = await addViewerDocuments(window, folder.path, `http://127.0.0.1:${port}`);
  const open = async (name: string): Promise<void> => {
    await route(window, '/'); // nothing of the document before stays
    await route(window, addresses.get(name) ?? '');
  };

  for (const name of ['page.html', 'handbook.docx', 'book.epub', 'letter.eml', 'notes.rtf']) {
    await test.step(name, async () => {
      await open(name);
      const frame = window.frameLocator('iframe');
      await expect(frame.locator('mark').first()).toBeInViewport();
      expect((await frame.locator('mark').allTextContents()).join('')).toContain(
        'keeper trims the lamp at dusk',
      );
      expect(await violationsIn(window), name).toEqual([]);
    });
  }
  await test.step('a book by its chapters', async () => {
    await open('book.epub');
    await window.getByRole('button', { name: 'Previous' }).click();
    await expect(window.frameLocator('iframe').getByRole('heading', { name: 'The harbour' })).toBeVisible();
  });
  await test.step('pictures within a document', async () => {
    for (const name of ['handbook.docx', 'letter.eml']) {
      await open(name);
      const picture = window.frameLocator('iframe').locator('img').first();
      await expect
        .poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth))
        .toBeGreaterThan(100);
    }
  });
  await test.step('plan.pdf', async () => {
    await open('plan.pdf');
    const mark = window.locator('.textLayer mark').first();
    await expect(mark).toBeInViewport();
    expect((await window.locator('.textLayer mark').allTextContents()).join(' ')).toContain('keeper trims');
    await expect(window.getByText('Page 3 of 4')).toBeVisible();
    const drawing = window.locator('.page[data-page-number="3"] canvas').first();
    await expectDrawn(drawing);
    // The words that are marked lie above those that are drawn.
    const layer = window.locator('.page[data-page-number="3"] .textLayer');
    const [drawn, marked] = [await drawing.boundingBox(), await layer.boundingBox()];
    for (const side of ['x', 'y', 'width', 'height'] as const)
      expect(Math.abs((marked?.[side] ?? NaN) - (drawn?.[side] ?? NaN)), side).toBeLessThan(2);
    await window.getByRole('button', { name: 'Zoom in' }).click();
    await expect(mark).toBeVisible();
    expect(await violationsIn(window)).toEqual([]);
    await open('plan.pdf');
    await expect(mark).toBeInViewport();
  });
  await test.step('lamp.png', async () => {
    await open('lamp.png');
    const picture = window.getByRole('main').locator('img');
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(900);
  });
  await test.step('what the model saw is one click away', async () => {
    await open('page.html');
    await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
    await expect(window.getByRole('region', { name: /^Text of/ }).locator('mark')).toContainText(SENTENCE);
  });
  await test.step('tide.py', async () => {
    await open('tide.py');
    await expect(
      window
        .getByRole('region', { name: /^Text of/ })
        .locator('mark')
        .first(),
    ).toBeInViewport();
  });
  expect(heard).toEqual([]);
  listener.close();
  folder.remove();
});

/** Hears every request, of whatever kind. */
async function listen(heard: string[]): Promise<Server> {
  const server = createServer((request, response) => {
    heard.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Whether a page has more than one colour. */
async function expectDrawn(canvas: Locator): Promise<void> {
  const colours = () =>
    canvas.evaluate((element: HTMLCanvasElement) => {
      const { data } = element.getContext('2d')!.getImageData(0, 0, element.width, element.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
  await expect.poll(colours).toBeGreaterThan(5);
}
