import type { Stats } from 'node:fs';
import { statfs } from 'node:fs/promises';

/**
 * Files of at least this many bytes have blocks where they are on the disk. Smaller ones may stand in the file system's own records: on
 * NTFS up to about 900 bytes, of which Linux counts whole blocks of 512. Windows tells the allocated size as blocks.
 */
const MIN_BYTES = { win32: 1024, linux: 512 } as Readonly<Partial<Record<NodeJS.Platform, number>>>;

/** Linux's number of file systems in user space (statfs(2)): some of them count no blocks at all. */
const FUSE = 0x65735546;

/** What tells whether a file is on the disk. */
type FileStats = Pick<Stats, 'size' | 'blocks' | 'dev'>;

/**
 * Of a folder's files, those whose content is only in a cloud (OneDrive, iCloud Drive, Dropbox): they have a size, but no blocks. Reading
 * one would download it.
 */
export async function placeholdersAmong(stats: ReadonlyMap<string, FileStats>): Promise<Set<string>> {
  const suspects = [...stats].filter(([, file]) => isEmptyOnDisk(file));
  const counting = new Set([...stats.values()].flatMap(({ blocks, dev }) => (blocks > 0 ? [dev] : [])));
  const placeholders = new Set<string>();
  for (const [path, { dev }] of suspects) {
    if (counting.has(dev) || (await countsBlocks(path))) placeholders.add(path);
  }
  return placeholders;
}

function isEmptyOnDisk({ size, blocks }: FileStats): boolean {
  return blocks === 0 && size >= (MIN_BYTES[process.platform] ?? 1);
}

async function countsBlocks(path: string): Promise<boolean> {
  return process.platform !== 'linux' || (await statfs(path).catch(() => undefined))?.type !== FUSE;
}
