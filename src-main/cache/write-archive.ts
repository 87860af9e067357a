import { createWriteStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { fileError } from '../platform/paths.ts';
import { entryName, MANIFEST_NAME, type Manifest, type ManifestChunk } from './archive-manifest.ts';

export interface Run {
  signal?: AbortSignal | undefined;
  /** Chunks processed, and in total. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Writes chunk files and their manifest into one file and returns the manifest: a chunk that is evicted, or moved to another folder,
 * before its turn is left out, so the
 * manifest comes last. CHUNK_CORRUPT, ABORTED, and Node's errors for the output file.
 */
export async function writeArchive(
  path: string,
  chunks: readonly ManifestChunk[],
  pathOf: (key: string) => string | undefined,
  { signal, onProgress }: Run = {},
): Promise<ManifestChunk[]> {
  const zip = new ZipFile();
  const failed = new AbortController();
  const written = pipeline(zip.outputStream, createWriteStream(path, { flush: true }), {
    signal: AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]),
  });
  written.catch(() => undefined); // awaited below
  const there: ManifestChunk[] = [];
  try {
    for (const [done, chunk] of chunks.entries()) {
      onProgress?.(done, chunks.length);
      const file = await openStored(pathOf(chunk.key));
      if (!file) continue;
      await Promise.race([addFile(zip, file, chunk), written]);
      there.push(chunk);
    }
    const manifest: Manifest = { kind: 'kvasir-cache', version: 1, chunks: there };
    zip.addBuffer(Buffer.from(JSON.stringify(manifest)), MANIFEST_NAME);
    zip.end();
    await written;
  } catch (error) {
    failed.abort();
    throwIfAborted(signal);
    throw error;
  }
  onProgress?.(chunks.length, chunks.length);
  return there;
}

/** undefined when it no longer exists. */
async function openStored(path: string | undefined): Promise<FileHandle | undefined> {
  if (path === undefined) return undefined;
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(error, `The stored chunk ${path} could not be opened`);
  }
}

/** Resolves when the whole file has been added. */
async function addFile(zip: ZipFile, file: FileHandle, chunk: ManifestChunk): Promise<void> {
  const stream = file.createReadStream();
  try {
    const { size } = await file.stat();
    // Checked here: the archive would emit an error for it, and an unhandled one ends the process.
    if (size !== chunk.bytes) throw new Error(`It has ${size} bytes instead of ${chunk.bytes}.`);
    zip.addReadStream(stream, entryName(chunk), { compress: false, size });
    await finished(stream);
  } catch (error) {
    throw new KvasirError(
      'CHUNK_CORRUPT',
      `The stored chunk ${chunk.key} could not be read.`,
      'Run `cache verify` to quarantine damaged chunks, then export again.',
      { cause: error },
    );
  } finally {
    stream.destroy();
  }
}
