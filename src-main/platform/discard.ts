import { rm } from 'node:fs/promises';

/**
 * Removes a temporary file or folder after work that has succeeded or failed. What cannot be removed stays, since its failure must not hide the
 * work's result; the next start removes it (leftovers.ts).
 */
export async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}
