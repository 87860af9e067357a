import { randomFillSync } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const MiB = 2 ** 20;
/** Two sizes, so that the time to open a file and the time per byte can be told apart. */
const SIZES = [MiB, 32 * MiB];
/** Bytes per read. */
const PART = 4 * MiB;
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
 * Measures how fast a folder's disk is read: writes files and reads them past the system's page cache, where the system
 * allows that (Linux); elsewhere what was just written may be read from memory. Node's errors of the file system.
 */
export async function measureReads(dir: string): Promise<ReadTime[]> {
  const path = join(dir, `speed-${process.pid}`);
  const times: ReadTime[] = [];
  try {
    for (const bytes of SIZES) {
      await writeFile(path, randomFillSync(Buffer.alloc(bytes)), { flush: true }); // random: some disks compress
      const started = performance.now();
      const file = await openUncached(path);
      try {
        await readAll(file, bytes);
      } finally {
        await file.close();
      }
      times.push({ bytes, ms: performance.now() - started });
    }
    return times;
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

async function readAll(file: FileHandle, bytes: number): Promise<void> {
  // Reading past the cache needs memory that is aligned to pages, as WebAssembly's is and a Buffer is not.
  const { buffer } = new WebAssembly.Memory({ initial: PART / WASM_PAGE });
  const part = new Uint8Array(buffer);
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await file.read(part, 0, PART, at);
    if (bytesRead === 0) return;
    at += bytesRead;
  }
}
