import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../platform/logger.ts';
import { tempDir } from '../testing/store.ts';
import type { Driver } from './driver.ts';
import { SharedCache, type SharedCacheOptions } from './shared-cache.ts';

/** A store key for each id. */
export function keyOf(id: number): string {
  return createHash('sha256').update(`chunk ${id}`).digest('hex');
}

/** A file of random bytes that stands for a chunk file. */
export function someFile(bytes: number): { path: string; content: Buffer } {
  const path = join(tempDir(), 'chunk.kvc');
  const content = randomBytes(bytes);
  writeFileSync(path, content);
  return { path, content };
}

/** One machine's cache; closed at the end of the test. */
export function machine(driver: Driver, options: Partial<SharedCacheOptions> = {}): SharedCache {
  const cache = new SharedCache({
    driver,
    where: 'the shared place',
    writable: true,
    salt: '',
    log: silentLogger,
    onChange: () => undefined,
    probeMs: 60_000,
    ...options,
  });
  onTestFinished(() => cache.close());
  return cache;
}

/** Writes a file and waits until it has arrived. */
export async function share(cache: SharedCache, id: number, path: string): Promise<void> {
  cache.offer(keyOf(id), path);
  await cache.settled();
}

/** All of a value, in pieces. */
export async function readAll(cache: SharedCache, id: number, each = 100_000): Promise<Buffer | undefined> {
  const value = await cache.open(keyOf(id));
  if (!value) return undefined;
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < value.bytes; from += each)
    pieces.push(await value.read(from, Math.min(each, value.bytes - from)));
  value.close();
  return Buffer.concat(pieces);
}
