import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { startApp, temporaryFolder } from './support/app.ts';
import { addByPath, createLibrary, libraryDone, QUEUE_MS } from './support/library.ts';
import { expect, goTo, openWindow, test } from './support/test.ts';
import { writeLogbooks } from './support/documents.ts';

const DOCUMENTS = 14;

test('killed while it precomputes, the app goes on where it was and computes nothing twice', async ({
  window,
  app,
  dataDir,
  context,
}) => {
  const folder = temporaryFolder();
  writeLogbooks(folder.path, DOCUMENTS);
  await createLibrary(window, 'Fleet');
  await libraryDoneOf(window, 'Sample library');
  const sample = chunkFiles(dataDir).size;
  await addByPath(window, [folder.path]);
  await expect
    .poll(() => chunkFiles(dataDir).size, { timeout: QUEUE_MS, intervals: [20] })
    .toBeGreaterThan(sample + 8);
  await app.kill();
  const before = chunkFiles(dataDir);
  await window.close();

  const again = await startApp(dataDir);
  try {
    const reopened = await openWindow(again, context);
    await goTo(reopened, 'Library');
    await reopened.getByRole('link', { name: /^Fleet/ }).click();
    await libraryDone(reopened, 'Fleet', DOCUMENTS);
    const after = chunkFiles(dataDir);
    expect(after.size, 'there was something left to compute').toBeGreaterThan(before.size);
    for (const [file, written] of before) expect(after.get(file), file).toBe(written);
  } finally {
    await again.stop();
    folder.remove();
  }
});

async function libraryDoneOf(window: Page, library: string): Promise<void> {
  const link = window.getByRole('link', { name: new RegExp(`^${library}`) });
  await expect(link.getByRole('meter')).toHaveCount(0, { timeout: QUEUE_MS });
}

/** Each stored chunk's file, with the attributes that change when it is rewritten. */
function chunkFiles(dataDir: string): Map<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  return new Map(
    files
      .filter((file) => file.isFile() && file.name.endsWith('.kvc'))
      .map(({ parentPath, name }) => {
        const { ino, mtimeMs } = statSync(join(parentPath, name));
        return [name, `${ino} ${mtimeMs}`];
      }),
  );
}
