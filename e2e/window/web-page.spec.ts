import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { startApp } from './support/app.ts';
import { createLibrary, documentsOf, libraryDone, rowOf } from './support/library.ts';
import { expect, test as base } from './support/test.ts';

const STORY = 'The sluice of the mill was rebuilt after the flood, and it has held ever since. '.repeat(6);

/** Addresses that the app asked its proxy for, which stands for the internet here. */
const asked: string[] = [];

const test = base.extend({
  app: async ({ dataDir, settings, modelsHome }, use) => {
    const proxy = http.createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'text/html');
      response.end(`<title>Mill rebuilt</title><nav><a href="/">Other news</a></nav>
        <main><p>It has ${asked.length === 1 ? 'four' : 'five'} wheels.</p><p>${STORY}</p></main>`);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    writeFileSync(join(dataDir, 'settings.json'), JSON.stringify(settings));
    const { port } = proxy.address() as AddressInfo;
    const app = await startApp(dataDir, [], modelsHome, {
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      NO_PROXY: '',
    });
    await use(app);
    await app.stop();
    proxy.close();
  },
});

async function enterAddress(window: Page, address: string): Promise<void> {
  await window.getByRole('textbox', { name: 'Address' }).fill(address);
  await window.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
}

test('a page is added by its address, names it as its source, and is fetched again when asked', async ({
  window,
}) => {
  await createLibrary(window, 'Web');
  await window.getByRole('button', { name: 'More', exact: true }).first().click();
  await window.getByRole('menuitem', { name: 'Add a web page…' }).click();

  await test.step('this computer is not the internet', async () => {
    await enterAddress(window, 'http://127.0.0.1:8080/');
    await expect(window.getByRole('alert')).toContainText('pages from the internet only');
    expect(asked).toEqual([]);
  });

  await enterAddress(window, 'http://mill.example/rebuilt');
  await expect(window.getByRole('dialog')).toBeHidden();
  await libraryDone(window, 'Web', 1);
  await expect(documentsOf(window, 'Web')).toContainText('Mill rebuilt');

  await rowOf(window, 'Mill rebuilt').getByRole('link').first().click();
  await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
  const text = window.getByRole('region', { name: 'Text of Mill rebuilt' });
  await expect(text).toContainText('It has four wheels.');
  await expect(text).not.toContainText('Other news');
  await expect(window.getByText(/Fetched on .*20\d\d/)).toBeVisible();
  await expect(window.getByRole('link', { name: 'http://mill.example/rebuilt' })).toHaveAttribute(
    'rel',
    /noopener/,
  );
  expect(asked).toEqual(['http://mill.example/rebuilt']);

  await window.getByRole('button', { name: 'Fetch again' }).click();
  await expect(text).toContainText('It has five wheels.');
  expect(asked).toHaveLength(2);
});
