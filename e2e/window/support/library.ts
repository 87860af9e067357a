import type { Locator, Page } from '@playwright/test';
import { expect, goTo } from './test.ts';

/** Timeout for reading, splitting and precomputing on a busy machine. */
export const QUEUE_MS = 240_000;

/** Drops local files and folders onto the centre of the window, or of an element, as a file manager would. */
export async function dropInto(window: Page, paths: string[], onto?: Locator): Promise<void> {
  const session = await window.context().newCDPSession(window);
  const all = { x: 0, y: 0, ...(window.viewportSize() ?? { width: 800, height: 600 }) };
  const { x, y, width, height } = (await onto?.boundingBox()) ?? all;
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
  }
  await session.detach();
}

/** Creates a library and opens it. */
export async function createLibrary(window: Page, name: string): Promise<void> {
  await goTo(window, 'Library');
  await window.getByRole('button', { name: 'New library' }).click();
  await window.getByRole('textbox', { name: 'Name' }).fill(name);
  await window.keyboard.press('Enter');
  await expect(window.getByRole('dialog')).toBeHidden();
  await expect(documentsOf(window, name)).toBeVisible();
}

export async function addByPath(window: Page, paths: string[]): Promise<void> {
  await window.getByRole('button', { name: 'More', exact: true }).first().click();
  await window.getByRole('menuitem', { name: 'Add by path…' }).click();
  const dialog = window.getByRole('dialog');
  await dialog.getByRole('textbox').fill(paths.join('\n'));
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(dialog).toBeHidden();
}

export function documentsOf(window: Page, library: string): Locator {
  return window.getByRole('grid', { name: `Documents of ${library}` });
}

/** A document's row, by its title or path. */
export function rowOf(window: Page, text: string): Locator {
  return window.getByRole('row').filter({ hasText: text });
}

/** Waits until a library has this many documents and the queue is idle. */
export async function libraryDone(window: Page, library: string, documents: number): Promise<void> {
  await expect(documentsOf(window, library)).toHaveAttribute('aria-rowcount', String(documents + 1), {
    timeout: QUEUE_MS,
  });
  const working = window.getByRole('navigation', { name: 'Libraries' }).getByRole('meter');
  await expect(window.getByRole('region', { name: 'Queue' })).toContainText(
    /All documents are ready|Finished, but/,
    {
      timeout: QUEUE_MS,
    },
  );
  await expect(working).toHaveCount(0);
}
