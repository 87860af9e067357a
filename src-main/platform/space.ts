import { mkdir, statfs } from 'node:fs/promises';
import { KvasirError } from '../../src-shared/errors.ts';
import { formatBytes } from './format-bytes.ts';
import { fileError } from './paths.ts';

/** Space kept free next to a download, for the catalogue, the log and the system. */
const SPARE_BYTES = 256 * 1024 * 1024;

/** Bytes. */
export interface DiskSpace {
  total: number;
  free: number;
}

/** Of the disk that holds a path; undefined if the disk does not report it, like some network drives and file systems in user space. */
export async function spaceOf(path: string): Promise<DiskSpace | undefined> {
  // Whatever else is wrong with the path, the next write to it fails with the reason.
  const reported = await statfs(path).catch(() => undefined);
  if (!reported || reported.blocks === 0) return undefined;
  const { blocks, bavail, bsize } = reported;
  return { total: blocks * bsize, free: bavail * bsize };
}

/**
 * DISK_FULL if `bytes` more would not fit and leave `spare`, where the disk reports its space; `what` describes them ("A model"). Creates
 * the folder. STORE_READ_ONLY.
 */
export async function requireSpace(
  dir: string,
  bytes: number,
  what: string,
  spare = SPARE_BYTES,
): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    throw fileError(error, `The folder ${dir} could not be created`);
  }
  const free = (await spaceOf(dir))?.free ?? Infinity;
  if (bytes + spare <= free) return;
  throw new KvasirError(
    'DISK_FULL',
    `${what} of ${formatBytes(bytes)} does not fit the disk of ${dir}, which has ${formatBytes(free)} left.`,
    'Free some space, or move the data folder to another disk.',
  );
}
