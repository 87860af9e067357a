import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificate, noOpenssl, noRedis, startRedis, type TestRedis } from '../testing/redis-server.ts';
import { tempDir } from '../testing/store.ts';
import { RedisDriver } from './drivers/redis.ts';
import { keyOf, machine, readAll, share, someFile } from './sharing.test-support.ts';

type Settings = ConstructorParameters<typeof RedisDriver>[0];

const started: TestRedis[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
});

async function server(options: Parameters<typeof startRedis>[0] = {}): Promise<TestRedis> {
  const one = await startRedis(options);
  started.push(one);
  return one;
}

function driver(port: number, settings: Partial<Settings> = {}): RedisDriver {
  const made = new RedisDriver({
    ...{ host: '127.0.0.1', port, tls: false, user: '', password: '', database: 0 },
    ...{ prefix: 'kvasir:', expireSeconds: 0, largestBytes: 100e6 },
    ...settings,
  });
  onTestFinished(() => made.reset());
  return made;
}

describe.skipIf(noRedis !== undefined)(
  `a Redis server${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`,
  () => {
    test('that is killed while a value is read fails that reading at once, and is found again when it is back', async () => {
      const redis = await server();
      const cache = machine(driver(redis.port), { probeMs: 50 });
      const { path, content } = someFile(2_000_000);
      await share(cache, 1, path);
      const value = await cache.open(keyOf(1));
      await value?.read(0, 1_000_000);
      // It may be answered before the kill.
      const reading = value?.read(1_000_000, 1_000_000).catch((error: unknown) => error);
      await redis.kill();
      started.pop();
      const got = await reading;
      if (!(got instanceof Uint8Array)) expect(got).toMatchObject({ code: 'SHARED_TIER_FAILED' });
      await expect(value?.read(0, 1000)).rejects.toMatchObject({
        code: 'SHARED_TIER_FAILED',
        message: expect.stringMatching(/cannot be reached/) as string,
      });
      expect(cache.available).toBe(false);
      expect(cache.outUntilMs).toBeGreaterThan(0);
      cache.offer(keyOf(2), path);
      await server({ port: redis.port });
      await expect.poll(() => cache.available).toBe(true);
      await expect.poll(() => cache.figures.written).toBe(2);
      expect((await readAll(cache, 2))?.equals(content)).toBe(true);
    });

    test('that hangs costs one timeout; from then on nobody waits until it answers again', async () => {
      const redis = await server();
      const cache = machine(driver(redis.port), { probeMs: 50 });
      await share(cache, 1, someFile(1000).path);
      redis.hang();
      await expect(cache.has([keyOf(2)])).resolves.toEqual(new Set());
      expect(cache.available).toBe(false);
      expect(cache.failure?.values?.['reason']).toBe('sharing-timeout');
      const order: string[] = [];
      await Promise.race([
        cache.has([keyOf(3)]).then(() => order.push('asked')),
        new Promise((resolve) => setImmediate(resolve)).then(() => order.push('next turn')),
      ]);
      expect(order).toEqual(['asked']);
      expect(await cache.open(keyOf(1))).toBeUndefined();
      redis.goOn();
      await expect.poll(() => cache.available).toBe(true);
      expect(await cache.has([keyOf(1)])).toEqual(new Set([keyOf(1)]));
      expect(cache.failure).toBeUndefined();
    });

    test('wants its password, and a wrong one is told', async () => {
      const redis = await server({ password: 'right' });
      await share(machine(driver(redis.port, { password: 'right' })), 1, someFile(10).path);
      for (const password of ['wrong', '']) {
        const cache = machine(driver(redis.port, { password }));
        expect(await cache.has([keyOf(1)])).toEqual(new Set());
        expect(cache.failure?.values?.['reason']).toBe('sharing-password');
        expect(cache.available).toBe(false);
      }
    });

    test('lets values go after their time, takes none that are too large, and says when it is full', async () => {
      const redis = await server({ memory: 16_000_000 });
      const settings = { expireSeconds: 1, largestBytes: 1_000_000 };
      const cache = machine(driver(redis.port, settings));
      await share(cache, 1, someFile(1000).path);
      await share(cache, 2, someFile(1_000_001).path);
      expect(cache.figures.written).toBe(1);
      await expect.poll(async () => (await machine(driver(redis.port)).has([keyOf(1)])).size).toBe(0);
      // A value remembered as present that has gone is a failure of that value alone.
      await expect((await cache.open(keyOf(1)))?.read(0, 10)).rejects.toMatchObject({
        code: 'SHARED_TIER_FAILED',
      });
      const lasting = machine(driver(redis.port));
      for (let id = 10; id < 20 && !lasting.failure; id++) await share(lasting, id, someFile(3_000_000).path);
      expect(lasting.failure?.values?.['reason']).toBe('sharing-full');
      expect(lasting.available).toBe(true);
      expect((await readAll(lasting, 10))?.length).toBe(3_000_000);
    });

    test.skipIf(noOpenssl !== undefined)(
      `is spoken to by TLS, and only with a certificate that can be trusted${noOpenssl === undefined ? '' : ` (skipped: ${noOpenssl})`}`,
      async () => {
        const files = makeCertificate(tempDir());
        const { port } = await server({ tls: files });
        const authorities = [readFileSync(files.authority, 'utf8')];
        const [trusting, careful, plain] = [
          machine(driver(port, { host: 'localhost', tls: true, authorities })),
          machine(driver(port, { host: 'localhost', tls: true })),
          machine(driver(port, { host: 'localhost', tls: false })),
        ];
        const { path, content } = someFile(100_000);
        await share(trusting, 1, path);
        expect((await readAll(trusting, 1))?.equals(content)).toBe(true);
        expect(await careful.has([keyOf(1)])).toEqual(new Set());
        expect(careful.failure?.values?.['reason']).toBe('sharing-certificate');
        expect(await plain.has([keyOf(1)])).toEqual(new Set());
        expect(plain.available).toBe(false);
      },
    );
  },
);

test('a host that does not exist and a port where nobody listens are told apart', async () => {
  const nobody = machine(driver(1));
  await nobody.has([keyOf(1)]);
  expect(nobody.failure?.values?.['reason']).toBe('sharing-unreachable');
  const unknown = machine(driver(6379, { host: 'no-such-host.invalid' }));
  await unknown.has([keyOf(1)]);
  expect(['sharing-unknownHost', 'sharing-timeout']).toContain(unknown.failure?.values?.['reason']);
});
