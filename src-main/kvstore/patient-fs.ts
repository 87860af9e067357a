import type { StoreFs } from './files.ts';
import type { ChunkFolders } from './folders.ts';

/** Calls that change folders, which wait for an added folder's drive no longer than that. */
export function patientFs(fs: StoreFs, folders: ChunkFolders): StoreFs {
  const within = <T>(path: string, work: Promise<T>): Promise<T> =>
    folders.holding(path).within(work, { isLong: true });
  return {
    makeDir: (path) => within(path, fs.makeDir(path)),
    rename: (from, to) => within(to, fs.rename(from, to)),
    unlink: (path) => within(path, fs.unlink(path)),
    space: (path) => within(path, fs.space(path)),
    syncDir: (path) => within(path, fs.syncDir(path)),
  };
}
