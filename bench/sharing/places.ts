/**
 * Measures the program's own overhead: writes values, and reads them sequentially in 2 MB ranges, as layers are read; from a folder, Redis
 * and a small S3 server, all on this machine.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src-main/platform/logger.ts';
import type { Driver } from '../../src-main/sharing/driver.ts';
import { FolderDriver } from '../../src-main/sharing/drivers/folder.ts';
import { RedisDriver } from '../../src-main/sharing/drivers/redis.ts';
import { S3Driver } from '../../src-main/sharing/drivers/s3.ts';
import { SharedCache } from '../../src-main/sharing/shared-cache.ts';
import { noRedis, startRedis } from '../../src-main/testing/redis-server.ts';
import { TestS3 } from '../../src-main/testing/s3-server.ts';

const RANGE = 2 * 2 ** 20;

interface Values {
  count: number;
  bytes: number;
  /** A file with this many bytes. */
  chunk: string;
}

/** Prints a line for each place, plain and encrypted. */
export async function measurePlaces({ count, bytes }: Omit<Values, 'chunk'>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-sharing-'));
  const values = { count, bytes, chunk: join(dir, 'chunk.kvc') };
  writeFileSync(values.chunk, randomBytes(bytes));
  const s3 = await TestS3.start();
  const redis = noRedis === undefined ? await startRedis() : undefined;
  try {
    const folder = (): Driver => new FolderDriver({ dir, readOnly: false, limitBytes: Infinity });
    const server = {
      host: '127.0.0.1',
      port: redis?.port ?? 0,
      tls: false,
      user: '',
      password: '',
      database: 0,
    };
    const valkey = (): Driver =>
      new RedisDriver({ ...server, prefix: '', expireSeconds: 0, largestBytes: 5e8 });
    const { bucket, accessKeyId, secretAccessKey, address: endpoint } = s3;
    const bucketOf = { bucket, accessKeyId, secretAccessKey, endpoint, region: 'us-east-1', prefix: '' };
    for (const key of [undefined, randomBytes(32)]) {
      await measure('folder', folder, key, values);
      if (redis) await measure('redis', valkey, key, values);
      await measure(
        's3 (a small test server)',
        () => new S3Driver({ ...bucketOf, pathStyle: true }),
        key,
        values,
      );
    }
    if (noRedis !== undefined) process.stdout.write(`redis: skipped, ${noRedis}\n`);
  } finally {
    await redis?.stop();
    await s3.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function cacheOver(driver: Driver, key: Buffer | undefined): SharedCache {
  const rest = { where: 'here', writable: true, salt: '', log: silentLogger, onChange: () => undefined };
  return new SharedCache({ driver, key, ...rest });
}

async function measure(
  name: string,
  make: () => Driver,
  key: Buffer | undefined,
  { count, bytes, chunk }: Values,
): Promise<void> {
  const keys = Array.from({ length: count }, () => randomBytes(32).toString('hex'));
  const writer = cacheOver(make(), key);
  await writer.has([randomBytes(32).toString('hex')]); // connects
  const writing = performance.now();
  for (const each of keys) writer.offer(each, chunk);
  await writer.settled();
  const writeMs = performance.now() - writing;
  if (writer.figures.written < count)
    throw new Error(`${name}: ${writer.failure?.message ?? 'some values were not written'}`);
  const reader = cacheOver(make(), key);
  await reader.has([randomBytes(32).toString('hex')]);
  const asking = performance.now();
  await reader.has(keys);
  const askMs = performance.now() - asking;
  const reading = performance.now();
  for (const each of keys) {
    const value = await reader.open(each);
    for (let from = 0; value && from < value.bytes; from += RANGE)
      await value.read(from, Math.min(RANGE, value.bytes - from));
    value?.close();
  }
  const readMs = performance.now() - reading;
  const rate = (ms: number): string => `${((bytes * count) / ms / 1000).toFixed(0)} MB/s`;
  const kind = key ? 'encrypted' : 'plain';
  process.stdout.write(
    `${name}, ${kind}: ${count} looked up in ${askMs.toFixed(1)} ms, written at ${rate(writeMs)}, read at ${rate(readMs)}\n`,
  );
  writer.close();
  reader.close();
}
