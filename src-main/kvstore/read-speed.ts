import { randomFillSync } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const KiB = 1024;
const MiB = 2 ** 20;
const FILE_BYTES = 32 * MiB;
/** Reads of two sizes, so that the time of a read and the time of its bytes can be told apart. */
const READS = [
  { bytes: 64 * KiB, count: 16 },
  { bytes: 4 * MiB, count: 8 },
];
const WASM_PAGE = 65_536;
/** Part of every JavaScript engine, but typed only with the browser's library. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: { initial: number }) => { readonly buffer: ArrayBuffer } };
};

export interface ReadTime {
  bytes: number;
  ms: number;
}

/**
 * Measures how fast a folder's disk is read: writes a file and reads parts of it past the system's page cache, where the system allows
 * that (Linux); elsewhere what was just written may be read from memory. The mean time of a read, by size. Node's errors of the file
 * system.
 */
export async function measureReads(dir: string): Promise<ReadTime[]> {
  const path = join(dir, `speed-${process.pid}`);
  try {
    await writeFile(path, randomFillSync(Buffer.alloc(FILE_BYTES)), { flush: true }); // random: some disks compress
    const file = await openUncached(path);
    try {
      const times: ReadTime[] = [];
      for (const read of READS) times.push({ bytes: read.bytes, ms: await meanMs(file, read) });
      return times;
    } finally {
      await file.close();
    }
  } finally {
    await unlink(path).catch(() => undefined);
  }
}

async function openUncached(path: string): Promise<FileHandle> {
  const flag = (constants as { O_DIRECT?: number }).O_DIRECT ?? 0;
  try {
    return await open(path, constants.O_RDONLY | flag);
  } catch (error) {
    // Some file systems refuse the flag.
    if (flag === 0 || (error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    return open(path, constants.O_RDONLY);
  }
}

/** Of reads that are spread over the file. */
async function meanMs(file: FileHandle, { bytes, count }: (typeof READS)[number]): Promise<number> {
  // Reading past the cache needs memory that is aligned to pages, as WebAssembly's is and a Buffer is not.
  const { buffer } = new WebAssembly.Memory({ initial: bytes / WASM_PAGE });
  const part = new Uint8Array(buffer);
  const started = performance.now();
  for (let i = 0; i < count; i++) await file.read(part, 0, bytes, (i * FILE_BYTES) / count);
  return (performance.now() - started) / count;
}
