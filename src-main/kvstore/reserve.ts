import { KvasirError } from '../../src-shared/errors.ts';
import type { DiskSpace } from '../platform/space.ts';
import type { StoreFs } from './files.ts';

/** Space left for data that cannot be recomputed; two percent on a small disk. */
const RESERVE_BYTES = 256 * 2 ** 20;
const RESERVE_SHARE = 0.02;

/** Stops the cache from growing before the disk is full, if the disk reports its space. DISK_FULL. */
export async function requireSpace(fs: StoreFs, dir: string): Promise<void> {
  const space = await fs.space(dir);
  if (!space) return;
  const { free } = space;
  const reserve = reserveOf(space);
  if (free >= reserve) return;
  const [left, kept] = [free, reserve].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`);
  throw new KvasirError(
    'DISK_FULL',
    `The disk that holds the cache folder ${dir} is nearly full: ${left} are free, and ${kept} are left for other data.`,
    'Free some space, or evict entries from the cache; stored chunks stay usable.',
  );
}

/** Bytes that a folder's disk has for the cache; Infinity if it does not report its space. */
export async function spareBytes(fs: StoreFs, dir: string): Promise<number> {
  const space = await fs.space(dir);
  return space ? space.free - reserveOf(space) : Infinity;
}

function reserveOf({ total }: DiskSpace): number {
  return Math.min(RESERVE_BYTES, total * RESERVE_SHARE);
}
