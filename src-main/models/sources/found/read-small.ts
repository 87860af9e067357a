import { open } from 'node:fs/promises';

/** Settings and manifests are a few kilobytes. */
const LARGEST = 1 << 20;

/**
 * The text of a small file of another program; undefined if it does not exist, cannot be read, or is something else.
 */
export async function readSmall(path: string): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const found = await file.stat();
      return found.isFile() && found.size <= LARGEST ? await file.readFile('utf8') : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
