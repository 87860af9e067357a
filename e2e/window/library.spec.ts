import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { ask, sourcesOf, startConversation } from './support/chat.ts';
import { writeLogbooks, writeMixedFolder } from './support/documents.ts';
import { addByPath, createLibrary, documentsOf, dropInto, libraryDone, rowOf } from './support/library.ts';
import { openSettings } from './support/screens.ts';
import { call, expect, goTo, homeOf, NO_BACKGROUND_WORK, test } from './support/test.ts';

test('a dropped folder of mixed formats is read, asked about, and leads back to the passage', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const dropped = join(folder.path, 'Harbour');
  const { good, bad, absent } = await writeMixedFolder(dropped);
  for (const path of absent) test.info().annotations.push({ type: 'not on this machine', description: path });

  await createLibrary(window, 'Port');
  await dropInto(window, [dropped]);
  const all = good.length + Object.keys(bad).length;

  await test.step('the uploads are counted, and the queue tells where it is', async () => {
    const uploads = window.getByRole('region', { name: 'Uploads to “Port”' });
    await expect(uploads).toContainText(`${all} files added`);
    await expect(uploads).toBeHidden();
    await libraryDone(window, 'Port', all);
  });

  await test.step('every file is there: read, or with the reason why not', async () => {
    for (const path of good) await expect(rowOf(window, path), path).toContainText('Ready');
    for (const [path, reason] of Object.entries(bad))
      await expect(rowOf(window, path), path).toContainText(reason);
  });

  await test.step('failed documents are retried: all, one, and the selected ones', async () => {
    const calls: string[] = [];
    const note = ({ payload }: { payload: string | Buffer }): void => {
      calls.push((JSON.parse(String(payload)) as { name: string }).name);
    };
    window.once('websocket', (socket) => socket.on('framesent', note));
    await window.reload();
    const failed = rowOf(window, 'broken.pdf');
    const retries = () => calls.filter((name) => /retry/i.test(name));
    await window.getByRole('button', { name: 'Retry 2 failed' }).click();
    await expect.poll(retries).toEqual(['queue.retryFailed']);
    await failed.getByRole('button', { name: /^Try .* again$/ }).click();
    await failed.getByRole('checkbox', { name: 'Select' }).click();
    await window.getByRole('button', { name: 'Try again', exact: true }).click();
    await expect.poll(retries).toEqual(['queue.retryFailed', 'documents.retry', 'documents.retry']);
    await window.getByRole('button', { name: 'Clear' }).click();
    await expect(failed).toContainText(bad['broken.pdf'] as RegExp);
  });

  await test.step('an answer names the page it came from', async () => {
    await startConversation(window);
    const answer = await ask(window, 'Where does Project Vortex run?');
    await expect(sourcesOf(answer).first()).toContainText(/vortex.*p\. 2/i);
    await sourcesOf(answer).first().click();
    await expect(answer.getByText('Its servers run in Riga.', { exact: true })).toBeVisible();
  });

  await test.step('its source opens the document at the passage', async () => {
    await window.getByRole('link', { name: 'Open in document' }).click();
    const passage = window.locator('mark');
    await expect(passage.first()).toBeInViewport();
    await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
    await expect(window.getByRole('region', { name: /^Text of/ })).toContainText('Its servers run in Riga.');
    expect((await passage.allTextContents()).join('')).toContain('Project Vortex');
  });
  folder.remove();
});

test('files and folders come by the buttons; the queue is paused, says what is left, and goes on', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const logs = join(folder.path, 'logs');
  writeLogbooks(logs, 14); // some seconds of work, also on a fast machine
  writeFileSync(join(folder.path, 'quay.md'), 'The quay is long.');
  await createLibrary(window, 'By buttons');
  const choose = async (button: string, path: string): Promise<void> => {
    const chooser = window.waitForEvent('filechooser');
    await window.getByRole('button', { name: button, exact: true }).first().click();
    await (await chooser).setFiles(path);
  };
  await choose('Add files', join(folder.path, 'quay.md'));
  await expect(rowOf(window, 'quay.md')).toContainText('Ready');
  await choose('Add a folder', logs);
  const queue = window.getByRole('region', { name: 'Queue' });
  await queue.getByRole('button', { name: 'Pause' }).click();
  await expect(queue.getByRole('status')).toContainText(/^Paused: \d+ documents? (is|are) waiting/);
  const plan = window.getByRole('note').filter({ hasText: 'To compute:' });
  await expect(plan).toContainText(
    /tokens, [\d.]+ [kM]B of KV as f16 \(.*\), about .* here; the disk budget holds \d+% of it/,
  );
  await queue.getByRole('button', { name: 'Resume' }).click();
  await expect(queue).not.toContainText('Paused');
  await libraryDone(window, 'By buttons', 15);
  await expect(plan).toBeHidden();
  folder.remove();
});

test('files that were opened with Kvasir go to the library that is chosen', async ({ sharedWindow }) => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'quay.md');
  writeFileSync(path, 'The quay is long.');
  await call(sharedWindow, 'libraries.create', { name: 'Opened' });
  const window = await sharedWindow.context().newPage();
  const open = JSON.stringify({ topic: 'app.open', payload: { paths: [path], route: '/library' } });
  await window.routeWebSocket(/\/socket$/, (page) => {
    const core = page.connectToServer();
    let first = true;
    page.onMessage((text) => core.send(text));
    core.onMessage((text) => {
      // Files that start the program are named at the window's first call.
      if (first) page.send(open);
      first = false;
      page.send(text);
    });
  });
  await window.goto(homeOf(sharedWindow));
  const dialog = window.getByRole('dialog', { name: 'Add to a library' });
  await expect(dialog).toContainText(path);
  await dialog.getByRole('combobox', { name: 'Library' }).click();
  await window.getByRole('option', { name: 'Opened' }).click();
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(documentsOf(window, 'Opened')).toHaveAttribute('aria-rowcount', '2');
  folder.remove();
});

test('adding that is given up leaves no library behind; added files get a new library', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'quay.md'), 'The quay is long.');
  await goTo(window, 'Library');
  const libraries = window.getByRole('navigation', { name: 'Libraries' }).getByRole('link');
  await window.getByRole('button', { name: 'More', exact: true }).first().click();
  await window.getByRole('menuitem', { name: 'Add by path…' }).click();
  await window.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(window.getByRole('dialog')).toHaveCount(0);
  await expect(libraries).toHaveCount(1);
  await addByPath(window, [folder.path]);
  await expect(libraries).toHaveCount(2);
  await expect(documentsOf(window, 'My documents')).toHaveAttribute('aria-rowcount', '2');
  folder.remove();
});

test('a removed document takes its caches with it, and leaves the file alone', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  const docs = join(folder.path, 'docs');
  mkdirSync(docs);
  for (const name of ['anchor', 'buoy']) {
    writeFileSync(join(docs, `${name}.md`), `# The ${name}\n\nThe ${name} was painted in the spring.\n`);
  }
  await createLibrary(window, 'Shore');
  await addByPath(window, [docs]);
  await libraryDone(window, 'Shore', 2);
  await expect(await cachedDocument(window, 'anchor.md')).toHaveCount(1);

  await goTo(window, 'Library');
  await rowOf(window, 'anchor.md').getByRole('checkbox', { name: 'Select' }).click();
  await window.getByRole('button', { name: 'Remove…' }).click();
  await window.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(window.getByText(/Removed\. Freed .* of caches \(1 chunk\)\./)).toBeVisible();
  await expect(documentsOf(window, 'Shore')).toHaveAttribute('aria-rowcount', '2');

  await expect(await cachedDocument(window, 'anchor.md')).toHaveCount(0);
  await expect(await cachedDocument(window, 'buoy.md')).toHaveCount(1);
  expect(existsSync(join(docs, 'anchor.md'))).toBe(true);

  await test.step('its folder is no longer watched', async () => {
    await goTo(window, 'Library');
    await window.getByRole('tab', { name: 'Sources' }).click();
    const watched = window.getByRole('switch', { name: `Watch ${docs} for new, changed and deleted files` });
    await expect(watched).toBeChecked();
    await watched.click({ force: true }); // its label is above it
    await expect(watched).not.toBeChecked();
    await window.reload();
    await window.getByRole('tab', { name: 'Sources' }).click();
    await expect(watched).not.toBeChecked();
  });
  await test.step('the library gets another name', async () => {
    await window.locator('[role=tablist] ~ button').click();
    await window.getByRole('menuitem', { name: 'Rename' }).click();
    await window.getByRole('dialog').getByRole('textbox').fill('Beach');
    await window.keyboard.press('Enter');
    const libraries = window.getByRole('navigation', { name: 'Libraries' });
    await expect(libraries.getByRole('link', { name: /^Beach/ })).toBeVisible();
    await expect(libraries.getByRole('link', { name: /^Shore/ })).toBeHidden();
  });
  folder.remove();
});

async function cachedDocument(window: Page, path: string): Promise<Locator> {
  await goTo(window, 'Cache');
  await window.getByRole('searchbox', { name: 'Filter by document' }).fill(path);
  const table = window.getByRole('grid', { name: 'Cache by document' });
  await expect(table).not.toHaveAttribute('aria-busy', 'true');
  return table.getByRole('row').filter({ hasText: path });
}

test.describe('a large library', () => {
  test.use({ settings: NO_BACKGROUND_WORK });

  test('a large library suggests an embedding model, until somebody says no', async ({ window }) => {
    const folder = temporaryFolder();
    const paragraph = (i: number): string =>
      `Quay ${i} of the harbour is ${i} metres long and was built by crew ${i}.`;
    const text = Array.from({ length: 1500 }, (_, i) => paragraph(i)).join('\n\n');
    writeFileSync(join(folder.path, 'quays.md'), text);
    await createLibrary(window, 'Quays');
    const hint = window.getByRole('alert', { name: 'Find passages by meaning too' });
    await expect(hint).toBeHidden();
    await dropInto(window, [join(folder.path, 'quays.md')]);
    await hint.getByRole('link', { name: 'Choose an embedding model' }).click();
    await expect(window.getByRole('tab', { name: 'Discover', selected: true })).toBeVisible();
    await goTo(window, 'Library');
    await hint.getByRole('button', { name: 'Close' }).click();
    await expect(hint).toBeHidden();
    await window.reload();
    await expect(window.getByRole('heading', { name: 'Quays' })).toBeVisible();
    await expect(hint).toBeHidden();
    folder.remove();

    await test.step('all documents are split into passages of another size', async () => {
      await openSettings(window, 'documents');
      await window.getByRole('switch', { name: 'Automatic size' }).click({ force: true });
      await window.getByRole('dialog').getByRole('button', { name: 'Use 512' }).click();
      await expect(window.getByText('Passage size changed. The documents are in the queue.')).toBeVisible();
      expect(await call(window, 'settings.get', {})).toMatchObject({ chunkTokens: 512 });
    });
  });
});
