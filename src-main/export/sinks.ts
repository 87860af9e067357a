import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** Where an export is written, one file after another. Its methods throw Node's errors for the target, and ABORTED. */
export interface ExportSink {
  /** Reads all of `content`. */
  write(file: { name: string; isText: boolean }, content: Readable): Promise<void>;
  /** Resolves once all of it is on the disk. */
  end(): Promise<void>;
  /** Stops writing: it is incomplete and will be deleted. */
  abandon(): Promise<void>;
}

/** Writes files below a new folder. */
export async function folderSink(folder: string, signal: AbortSignal): Promise<ExportSink> {
  await mkdir(folder);
  return {
    async write({ name }, content) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await pipeline(content, createWriteStream(path, { flags: 'wx', flush: true }), { signal });
    },
    end: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
}

/** Writes one ZIP file. Originals are stored as they are: most document formats are compressed already. */
export function zipSink(path: string, signal: AbortSignal): ExportSink {
  const zip = new ZipFile();
  const abandoned = new AbortController();
  const written = pipeline(zip.outputStream, createWriteStream(path, { flags: 'wx', flush: true }), {
    signal: AbortSignal.any([signal, abandoned.signal]),
  });
  written.catch(() => undefined); // awaited with each file, and in end()
  return {
    async write({ name, isText }, content) {
      // The size is unknown, and may be more than 4 GB.
      zip.addReadStream(content, name, { compress: isText, forceZip64Format: !isText });
      try {
        await Promise.race([finished(content), written]);
      } finally {
        content.destroy();
      }
    },
    async end() {
      zip.end();
      await written;
    },
    async abandon() {
      abandoned.abort();
      await written.catch(() => undefined);
    },
  };
}
