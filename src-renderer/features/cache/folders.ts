import type { CacheFolder } from '../../../src-shared/contract/cache.ts';

type FolderRoom = Pick<CacheFolder, 'id' | 'state' | 'bytes' | 'budgetBytes'>;

/** Bytes of a folder's chunks that fit into the others. */
export function fittingBytes(folder: FolderRoom, all: readonly FolderRoom[]): number {
  const others = all.filter(({ id, state }) => id !== folder.id && state === 'ready');
  const free = others.reduce((sum, { bytes, budgetBytes }) => sum + Math.max(0, budgetBytes - bytes), 0);
  return Math.min(folder.bytes, free);
}
