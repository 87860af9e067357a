/** Two machines over each kind of shared place, with the real engine and the places' own drivers: a folder, Redis, S3. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { ChunkStore } from '../src-main/kvstore/store.ts';
import { silentLogger } from '../src-main/platform/logger.ts';
import type { Driver } from '../src-main/sharing/driver.ts';
import { FolderDriver } from '../src-main/sharing/drivers/folder.ts';
import { RedisDriver } from '../src-main/sharing/drivers/redis.ts';
import { S3Driver } from '../src-main/sharing/drivers/s3.ts';
import { SharedCache } from '../src-main/sharing/shared-cache.ts';
import { noRedis, startRedis, type TestRedis } from '../src-main/testing/redis-server.ts';
import { TestS3 } from '../src-main/testing/s3-server.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { blended, encodeAll, prompt, SMALL } from './support/shared-prompt.ts';

let work: string;
let engine: Engine;
let model: Model;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'kvasir-places-'));
  engine = Engine.open();
  const path = randomModel({ ...SMALL, context: 2048, type: 'f16' }, work);
  model = await engine.loadModel(path, { threads: 1, device: 'cpu' });
});
afterAll(() => {
  model.dispose();
  rmSync(work, { recursive: true, force: true });
});

function folder(): string {
  return mkdtempSync(join(work, 'data-'));
}

/** Factories for drivers of one place: each machine has a separate one. */
const PLACES: Record<string, { skipped?: string | undefined; make: () => Promise<() => Driver> }> = {
  'a folder': {
    make: () => {
      const dir = folder();
      return Promise.resolve(() => new FolderDriver({ dir, readOnly: false, limitBytes: Infinity }));
    },
  },
  Redis: {
    skipped: noRedis,
    make: async () => {
      const redis = await startRedis({ password: 'of the team' });
      onTestFinished(() => redis.stop());
      return () => redisDriver(redis);
    },
  },
  S3: {
    make: async () => {
      const server = await TestS3.start();
      onTestFinished(() => server.stop());
      const { address: endpoint, bucket, accessKeyId, secretAccessKey } = server;
      const options = { endpoint, bucket, accessKeyId, secretAccessKey };
      return () => new S3Driver({ ...options, region: 'us-east-1', pathStyle: true, prefix: 'kvasir/' });
    },
  },
};

function redisDriver({ port }: TestRedis): RedisDriver {
  return new RedisDriver({
    ...{ host: '127.0.0.1', port, tls: false, user: '', password: 'of the team', database: 0 },
    ...{ prefix: 'kvasir:', expireSeconds: 0, largestBytes: 100e6 },
  });
}

interface Machine {
  store: ChunkStore;
  tier: SharedCache;
}

async function machine(driver: Driver, key?: Buffer): Promise<Machine> {
  const tier = new SharedCache({
    ...{ driver, key, where: 'the shared place', writable: true, salt: 'of the team', probeMs: 60_000 },
    ...{ log: silentLogger, onChange: () => undefined },
  });
  const options = { dir: folder(), diskBudgetBytes: 1e9, ramBudgetBytes: 0, files: engine, shared: tier };
  const store = await ChunkStore.open(options);
  onTestFinished(async () => {
    tier.close();
    await store.close();
  });
  return { store, tier };
}

/** A machine that has computed a prompt's passages and queued them for the shared place. */
async function firstMachine(driver: Driver, key?: Buffer): Promise<Machine> {
  const first = await machine(driver, key);
  await encodeAll(model, first.store, prompt(model));
  await first.tier.settled();
  expect(first.tier.figures.written).toBe(2);
  return first;
}

describe.each(Object.entries(PLACES))('over %s', (_, { skipped, make }) => {
  describe.skipIf(skipped !== undefined)(skipped === undefined ? '' : `(skipped: ${skipped})`, () => {
    test.each([
      ['plain', undefined],
      ['encrypted', randomBytes(32)],
    ])('the second machine computes nothing, and has bit-identical logits (%s)', async (__, key) => {
      const driver = await make();
      const first = await firstMachine(driver(), key);
      const second = await machine(driver(), key);
      const here = await blended(model, first.store, prompt(model));
      expect(here.outcomes).toEqual(['disk', 'disk']);
      const there = await blended(model, second.store, prompt(model));
      expect(there.outcomes).not.toContain('computed');
      expect(there.outcomes).toContain('shared');
      expect(there.logits).toEqual(here.logits);
      await second.store.idle();
      expect(second.tier.figures).toMatchObject({ read: 2, corrupt: 0 });
      expect((await second.store.verify()).ok).toBe(2);
    });
  });
});

test.skipIf(noRedis !== undefined)(
  `Redis killed mid-load: the answer is computed, and later requests do not wait for Redis${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`,
  async () => {
    const redis = await startRedis({ password: 'of the team' });
    const first = await firstMachine(redisDriver(redis));
    const driver = redisDriver(redis);
    const { promise: leased, resolve: isLeased } = Promise.withResolvers<undefined>();
    const read = driver.read.bind(driver);
    let killed: Promise<void> | undefined;
    // The beginning of each value arrives; the rest is requested from a server that is gone.
    driver.read = async (name, from, bytes) => {
      if (from > 0) {
        await leased;
        await (killed ??= redis.kill());
      }
      return read(name, from, bytes);
    };
    const second = await machine(driver);
    const there = await blended(model, second.store, prompt(model), () => isLeased(undefined));
    expect(there.outcomes).toEqual(['computed', 'computed']);
    expect(there.lost).toEqual([0, 1]);
    const computed = prompt(model).map((part) => ({ ...part, compute: true }));
    expect(there.logits).toEqual((await blended(model, first.store, computed)).logits);
    expect(second.tier.available).toBe(false);
    expect(second.tier.failure?.message).toMatch(/cannot be reached/);
    expect((await blended(model, second.store, prompt(model))).outcomes).toEqual(['computed', 'computed']);
  },
);
