import { mkdir, statfs } from 'node:fs/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import { formatBytes } from '../format-bytes.ts';
import { fileError } from '../paths.ts';

/** Space kept free next to a download, for the catalogue, the log and the system. */
const SPARE_BYTES = 256 * 1024 * 1024;

/**
 * DISK_FULL if `bytes` more would not fit, or barely; `what` describes them ("A model"). Creates the folder.
 * STORE_READ_ONLY.
 */
export async function requireSpace(dir: string, bytes: number, what: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    throw fileError(error, `The folder ${dir} could not be created`);
  }
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (bytes + SPARE_BYTES <= free) return;
  throw new KvasirError(
    'DISK_FULL',
    `${what} of ${formatBytes(bytes)} does not fit the disk of ${dir}, which has ${formatBytes(free)} left.`,
    'Free some space, or move the data folder to another disk.',
  );
}
