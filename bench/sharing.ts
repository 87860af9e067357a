/**
 * How fast a shared cache is on this machine: `npm run bench:sharing [-- --mb 56 --count 8]`. Values of `--mb` megabytes are written,
 * and read in ranges of two megabytes one after another, as layers are; by a folder, Redis and a small S3 server, all on this machine: what
 * is measured is the program's part, not a network's.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLogger } from '../src-main/platform/logger.ts';
import type { Driver } from '../src-main/sharing/driver.ts';
import { FolderDriver } from '../src-main/sharing/drivers/folder.ts';
import { RedisDriver } from '../src-main/sharing/drivers/redis.ts';
import { S3Driver } from '../src-main/sharing/drivers/s3.ts';
import { SharedCache } from '../src-main/sharing/shared-cache.ts';
import { noRedis, startRedis } from '../src-main/testing/redis-server.ts';
import { TestS3 } from '../src-main/testing/s3-server.ts';

const { values: flags } = parseArgs({
  options: { mb: { type: 'string', default: '56' }, count: { type: 'string', default: '8' } },
});
const bytes = Number(flags.mb) * 1e6;
const count = Number(flags.count);
const RANGE = 2 * 2 ** 20;

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-sharing-'));
const chunk = join(dir, 'chunk.kvc');
writeFileSync(chunk, randomBytes(bytes));

function cacheOver(driver: Driver, key: Buffer | undefined): SharedCache {
  const rest = { where: 'here', writable: true, salt: '', log: silentLogger, onChange: () => undefined };
  return new SharedCache({ driver, key, ...rest });
}

async function measure(name: string, make: () => Driver, key: Buffer | undefined): Promise<void> {
  const keys = Array.from({ length: count }, () => randomBytes(32).toString('hex'));
  const writer = cacheOver(make(), key);
  await writer.has([randomBytes(32).toString('hex')]); // connects
  const writing = performance.now();
  for (const each of keys) writer.offer(each, chunk);
  await writer.settled();
  const writeMs = performance.now() - writing;
  if (writer.figures.written < count)
    throw new Error(`${name}: ${writer.failure?.message ?? 'not all was written'}`);
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
    `${name}, ${kind}: ${count} asked in ${askMs.toFixed(1)} ms, written at ${rate(writeMs)}, read at ${rate(readMs)}\n`,
  );
  writer.close();
  reader.close();
}

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
    await measure('folder', folder, key);
    if (redis) await measure('redis', valkey, key);
    await measure(
      's3 (a small server of the tests)',
      () => new S3Driver({ ...bucketOf, pathStyle: true }),
      key,
    );
  }
  if (noRedis !== undefined) process.stdout.write(`redis: skipped, ${noRedis}\n`);
} finally {
  await redis?.stop();
  await s3.stop();
  rmSync(dir, { recursive: true, force: true });
}
