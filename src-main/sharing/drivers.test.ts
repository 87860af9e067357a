import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Driver } from './driver.ts';
import { sealedBytes } from './encryption.ts';
import { nameOf } from './names.ts';
import { usePlaces, valueOf } from './places.test-support.ts';
import { keyOf, machine, readAll, share, someFile } from './sharing.test-support.ts';

describe.each(usePlaces())('$name', ({ skipped, make }) => {
  describe.skipIf(skipped !== undefined)('a second machine', () => {
    test.each([
      ['plain', undefined],
      ['encrypted', randomBytes(32)],
    ])('reads what the first one wrote, %s', async (__, key) => {
      const driver = make();
      const [first, second] = [machine(driver(), { key }), machine(driver(), { key })];
      const { path, content } = someFile(1_000_003);
      expect(await first.has([keyOf(1), keyOf(2)])).toEqual(new Set());
      await share(first, 1, path);
      expect(await second.has([keyOf(1), keyOf(2)])).toEqual(new Set([keyOf(1)]));
      expect((await readAll(second, 1))?.equals(content)).toBe(true);
      expect(await second.open(keyOf(2))).toBeUndefined();
      expect(second.figures).toMatchObject({ read: 1, corrupt: 0, latencyMs: expect.any(Number) as number });
      expect(second.failure).toBeUndefined();
    });

    test('sees nothing with another salt, nor without the key', async () => {
      const driver = make();
      const key = randomBytes(32);
      await share(machine(driver(), { salt: 'team', key }), 1, someFile(1000).path);
      for (const other of [{ salt: 'others', key }, { salt: '', key }, { salt: 'team' }])
        expect(await machine(driver(), other).has([keyOf(1)])).toEqual(new Set());
      expect(await machine(driver(), { salt: 'team', key }).has([keyOf(1)])).toEqual(new Set([keyOf(1)]));
    });

    test('with a new key begins an empty cache, which a third one with that key reads', async () => {
      const driver = make();
      const [old, key] = [randomBytes(32), randomBytes(32)];
      const [before, after] = [someFile(1000), someFile(1000)];
      await share(machine(driver(), { key: old }), 1, before.path);
      const second = machine(driver(), { key });
      expect(await second.has([keyOf(1)])).toEqual(new Set());
      expect(await second.open(keyOf(1))).toBeUndefined();
      await share(second, 1, after.path);
      expect(second.figures.written).toBe(1);
      expect((await readAll(machine(driver(), { key }), 1))?.equals(after.content)).toBe(true);
      expect((await readAll(machine(driver(), { key: old }), 1))?.equals(before.content)).toBe(true);
    });

    test('writes nothing that is there, unless it was wrong', async () => {
      const driver = make();
      const [first, second] = [machine(driver()), machine(driver())];
      const [wrong, right] = [someFile(5000), someFile(5000)];
      await share(first, 1, wrong.path);
      await share(second, 1, right.path);
      expect(second.figures.written).toBe(0);
      second.reportCorrupt(keyOf(1));
      expect(second.figures.corrupt).toBe(1);
      expect(await second.has([keyOf(1)])).toEqual(new Set());
      expect(await second.open(keyOf(1))).toBeUndefined();
      await share(second, 1, right.path);
      expect((await readAll(second, 1))?.equals(right.content)).toBe(true);
      expect((await readAll(first, 1))?.equals(right.content)).toBe(true);
    });

    test.each([
      ['changed', (value: Buffer) => Buffer.concat([value.subarray(0, -1), Buffer.of(value.at(-1)! ^ 1)])],
      ['cut', (value: Buffer) => value.subarray(0, 60)],
    ])('tells an encrypted value that was %s, and writes it anew', async (__, spoil) => {
      const driver = make();
      const key = randomBytes(32);
      const { path, content } = someFile(5000);
      await share(machine(driver(), { key }), 1, path);
      const direct = driver();
      const name = nameOf(keyOf(1), '', key);
      const signal = new AbortController().signal;
      const whole = Buffer.from(await direct.read(name, 0, sealedBytes(5000), signal));
      await direct.write(name, valueOf([spoil(whole)]), signal, true);
      direct.reset();
      const second = machine(driver(), { key });
      const read = await readAll(second, 1).catch((error: unknown) => error);
      if (read !== undefined) expect(read).toMatchObject({ code: 'SHARED_TIER_FAILED' });
      expect(second.figures.corrupt).toBe(1);
      expect(second.failure?.values?.['reason']).toBe('sharing-damaged');
      expect(await second.has([keyOf(1)])).toEqual(new Set());
      await share(second, 1, path);
      expect((await readAll(machine(driver(), { key }), 1))?.equals(content)).toBe(true);
    });
  });

  test.skipIf(skipped !== undefined)(
    'a value that was cut or has gone is never handed out in part',
    async () => {
      const driver = make();
      const [first, second] = [machine(driver()), machine(driver())];
      await share(first, 1, someFile(400_000).path);
      const value = await second.open(keyOf(1));
      const direct = driver();
      const name = await onlyName(direct, first, 1);
      await direct.write(name, valueOf([Buffer.from('cut short')]), new AbortController().signal, true);
      await expect(value?.read(0, 300_000)).rejects.toMatchObject({ code: 'SHARED_TIER_FAILED' });
      await direct.remove(name, new AbortController().signal);
      direct.reset();
      await expect(value?.read(0, 5)).rejects.toMatchObject({ code: 'SHARED_TIER_FAILED' });
      expect(await second.has([keyOf(1)])).toEqual(new Set());
      expect(second.available).toBe(true);
    },
  );

  test.skipIf(skipped !== undefined)('a large value comes over in parts of it', async () => {
    const driver = make();
    const { path, content } = someFile(20_000_000);
    await share(machine(driver()), 1, path);
    const value = await machine(driver()).open(keyOf(1));
    const part = await value?.read(9_999_999, 1_234_567);
    expect(Buffer.from(part ?? []).equals(content.subarray(9_999_999, 11_234_566))).toBe(true);
    expect(() => value?.read(0, 20_000_001)).toThrow(TypeError);
    value?.close();
    await expect(value?.read(0, 1)).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

/** The name of a chunk in an unsalted, unencrypted cache. */
async function onlyName(
  driver: Driver,
  cache: { has(keys: string[]): Promise<Set<string>> },
  id: number,
): Promise<string> {
  expect(await cache.has([keyOf(id)])).toEqual(new Set([keyOf(id)]));
  const name = nameOf(keyOf(id), '', undefined);
  expect((await driver.sizes([name], new AbortController().signal)).has(name)).toBe(true);
  return name;
}
