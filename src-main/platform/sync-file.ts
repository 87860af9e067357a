import { open } from 'node:fs/promises';

/** Waits until a file's content is on the disk. Its name is not, until its folder is synced. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
