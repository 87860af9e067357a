import { randomUUID } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Engine, GgufInfo } from '../../../engine/engine.ts';
import { discard } from '../../../platform/discard.ts';
import { fileError } from '../../../platform/paths.ts';
import { get, received } from '../../../platform/download/request.ts';
import { unreachable } from './refusals.ts';
import { headBytes, MAX_HEAD_BYTES } from './gguf-head.ts';

export interface RemoteFile {
  url: string;
  path: string;
  bytes: number;
}

interface RemoteHeaderOptions {
  engine: Pick<Engine, 'inspect'>;
  headers: (url: string) => Promise<Record<string, string>>;
  /** Folder for a temporary file. */
  dir: string;
  /** Timeout without a byte from the hub, in milliseconds. Default 15,000. */
  stallMs?: number | undefined;
}

export interface RemoteHeader {
  header: GgufInfo;
  /** null if too little arrived to measure. */
  bytesPerSecond: number | null;
}

/** A shorter transfer measures latency rather than throughput. */
const TELLING_BYTES = 512 * 1024;

/**
 * The engine's header info for a model on the hub. Downloads the header of each file into an otherwise empty sparse
 * file of the full size, so that the same code assesses remote and local files.
 * MODEL_INVALID, DISK_FULL, STORE_READ_ONLY, and download errors.
 */
export async function readRemoteHeader(
  files: readonly RemoteFile[],
  options: RemoteHeaderOptions,
): Promise<RemoteHeader> {
  // Named like a partial download, so that the next start removes what a kill left.
  const folder = join(options.dir, `${randomUUID()}.part`);
  const [first] = files;
  if (!first) throw new TypeError('files: there are none');
  try {
    await mkdir(folder, { recursive: true });
    let bytes = 0;
    let ms = 0;
    for (const file of files) {
      const began = performance.now();
      const head = await fetchHead(file, options);
      ms += performance.now() - began;
      bytes += head.length;
      await writeSparse(join(folder, basename(file.path)), head, file.bytes);
    }
    const header = options.engine.inspect(join(folder, basename(first.path)));
    return { header, bytesPerSecond: bytes >= TELLING_BYTES ? (bytes / ms) * 1000 : null };
  } finally {
    await discard(folder);
  }
}

/** The beginning of a file up to the end of its header; then closes the connection. */
async function fetchHead({ url, bytes }: RemoteFile, options: RemoteHeaderOptions): Promise<Buffer> {
  const stalled = new AbortController();
  const { stallMs = 15_000 } = options;
  const timer = setTimeout(() => stalled.abort(), stallMs);
  try {
    const range = `bytes=0-${Math.min(bytes, MAX_HEAD_BYTES) - 1}`;
    const response = await get(url, { ...(await options.headers(url)), range }, stalled.signal);
    const parts: Buffer[] = [];
    let have = 0;
    let next = 64 * 1024;
    try {
      for await (const part of received(response)) {
        timer.refresh();
        parts.push(part);
        have += part.length;
        if (have < next) continue;
        next = 2 * have;
        const head = whole(parts);
        if (head) return head;
      }
      // The end of the file; the engine reports a header that extends beyond it.
      return whole(parts) ?? Buffer.concat(parts);
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (stalled.signal.aborted) throw unreachable(url, 'it stopped sending', error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function whole(parts: readonly Buffer[]): Buffer | undefined {
  const all = Buffer.concat(parts);
  const end = headBytes(all);
  return end === undefined ? undefined : all.subarray(0, end);
}

async function writeSparse(path: string, head: Buffer, bytes: number): Promise<void> {
  try {
    const file = await open(path, 'wx');
    try {
      await file.writeFile(head);
      await file.truncate(bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, "The model's header could not be written to a temporary file");
  }
}
