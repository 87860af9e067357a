import { mkdir, statfs } from 'node:fs/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import { formatBytes } from '../format-bytes.ts';
import { fileError } from '../paths.ts';

/** Left free on the disk beside a download, for the catalogue, the log and the system. */
const SPARE_BYTES = 256 * 1024 * 1024;

/** DISK_FULL when `bytes` more would not fit, or nearly; `what` they are ("A model"). Makes the folder. STORE_READ_ONLY. */
export async function requireSpace(dir: string, bytes: number, what: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    throw fileError(error, `The folder ${dir} could not be made`);
  }
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (bytes + SPARE_BYTES <= free) return;
  throw new KvasirError(
    'DISK_FULL',
    `${what} of ${formatBytes(bytes)} does not fit the disk of ${dir}, which has ${formatBytes(free)} left.`,
    'Free some space, or keep the data folder on another disk.',
  );
}
