import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { noRedis, startRedis, type TestRedis } from '../testing/redis-server.ts';
import { TestS3 } from '../testing/s3-server.ts';
import { tempDir } from '../testing/store.ts';
import type { Driver, ValueSource } from './driver.ts';
import { FolderDriver } from './drivers/folder.ts';
import { RedisDriver } from './drivers/redis.ts';
import { S3Driver } from './drivers/s3.ts';

/** A kind of storage under test. */
interface TestPlace {
  name: string;
  /** Why its tests are skipped; undefined: they are not. */
  skipped?: string | undefined;
  /** Empties a storage; each call of the result is one more machine's driver on it. */
  make: () => () => Driver;
  /** A driver whose storage does not exist or does not answer. */
  unreachable: () => Driver;
}

const PASSWORD = 'a password of the tests';
/** A port of loopback on which nothing listens. */
const NO_PORT = 1;

/** Every kind of storage. Starts their servers before the tests of the file that calls it, and stops them after. */
export function usePlaces(): TestPlace[] {
  let redis: TestRedis | undefined;
  let s3: TestS3;
  beforeAll(async () => {
    if (noRedis === undefined) redis = await startRedis({ password: PASSWORD });
    s3 = await TestS3.start();
  });
  afterAll(async () => {
    await redis?.stop();
    await s3.stop();
  });

  const folderDriver = (dir: string) => new FolderDriver({ dir, readOnly: false, limitBytes: Infinity });
  const redisDriver = (port: number, prefix: string) =>
    new RedisDriver({
      ...{ host: '127.0.0.1', port, tls: false, user: '', password: PASSWORD, database: 1, prefix },
      ...{ expireSeconds: 60, largestBytes: 50e6 },
    });
  const s3Driver = (endpoint: string, prefix: string) => {
    const { bucket, accessKeyId, secretAccessKey } = s3;
    const settings = { bucket, accessKeyId, secretAccessKey, endpoint, region: 'us-east-1', pathStyle: true };
    return new S3Driver({ ...settings, prefix });
  };
  return [
    {
      name: 'folder',
      make: () => {
        const dir = tempDir();
        return () => folderDriver(dir);
      },
      unreachable: () => folderDriver(join(tempDir(), 'not mounted')),
    },
    {
      name: `redis${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`,
      skipped: noRedis,
      make: () => {
        const prefix = `${randomBytes(4).toString('hex')}:`;
        return () => redisDriver(redis?.port ?? 0, prefix);
      },
      unreachable: () => redisDriver(NO_PORT, ''),
    },
    {
      name: 's3 (a small server of the tests)',
      make: () => {
        const prefix = `${randomBytes(4).toString('hex')}/`;
        return () => s3Driver(s3.address, prefix);
      },
      unreachable: () => s3Driver(`http://127.0.0.1:${NO_PORT}`, ''),
    },
  ];
}

/** A value of these pieces; calls `before` ahead of each, with its index. */
export function valueOf(
  pieces: readonly Buffer[],
  before: (index: number) => unknown = () => undefined,
): ValueSource {
  return {
    bytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
    async *pieces() {
      for (const [index, piece] of pieces.entries()) {
        await before(index);
        yield piece;
      }
    },
  };
}
