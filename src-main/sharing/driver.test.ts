import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Driver } from './driver.ts';
import { reasonOf } from './failures.ts';
import { usePlaces, valueOf } from './places.test-support.ts';

const MIB = 2 ** 20;
const LAST = 17;

// What every driver promises (docs/drivers.md). A new one takes part as an entry of usePlaces().
describe.each(usePlaces())('$name', ({ skipped, make, unreachable }) => {
  describe.skipIf(skipped !== undefined)('a driver', () => {
    const { signal } = new AbortController();
    const name = randomName();
    /** Drivers of two machines on an empty storage. */
    const two = (): [Driver, Driver] => {
      const driver = make();
      return [opened(driver()), opened(driver())];
    };

    test('gives the sizes of the values that exist, and of no others', async () => {
      const [one, other] = two();
      const names = Array.from({ length: 300 }, randomName);
      const written = new Map(names.slice(0, 3).map((each, i) => [each, 1 + i * 1000]));
      for (const [each, bytes] of written) await one.write(each, valueOf([randomBytes(bytes)]), signal);
      expect(await other.sizes(names, signal)).toEqual(written);
      expect(await other.sizes([], signal)).toEqual(new Map());
    });

    test('reads any range, also at the same time; what lies beyond the end is left out', async () => {
      const [one, other] = two();
      const content = randomBytes(100_000);
      await one.write(name, valueOf([content.subarray(0, 7), content.subarray(7)]), signal);
      const range = async (from: number, bytes: number) =>
        Buffer.from(await other.read(name, from, bytes, signal));
      const starts = Array.from({ length: 50 }, (_, i) => i * 2000);
      const read = await Promise.all(starts.map((from) => range(from, 2000)));
      expect(Buffer.concat(read).equals(content)).toBe(true);
      expect((await range(99_999, 1)).equals(content.subarray(-1))).toBe(true);
      expect((await range(99_990, 2000)).equals(content.subarray(-10))).toBe(true);
      expect(await range(100_000, 5)).toHaveLength(0);
      expect(await other.read('0'.repeat(64), 0, 5, signal)).toHaveLength(0);
    });

    test('shows a value once it is complete', async () => {
      const [one, other] = two();
      const seen: unknown[] = [];
      const value = valueOf(pieces(), async (index) => {
        if (index === LAST)
          seen.push(await other.sizes([name], signal), await other.read(name, 0, 9, signal));
      });
      await one.write(name, value, signal);
      expect(seen.slice(0, 1)).toEqual([new Map()]);
      expect(seen[1]).toHaveLength(0);
      expect(await other.sizes([name], signal)).toEqual(new Map([[name, value.bytes]]));
    });

    test.each([
      ['fails before its first piece', 0],
      ['fails at its last piece', LAST],
    ])('leaves what was there if a write %s', async (_, at) => {
      const [one, other] = two();
      const broken = valueOf(pieces(), (index) => {
        if (index === at) throw new Error('the file was cut');
      });
      await expect(one.write(name, broken, signal)).rejects.toThrow('the file was cut');
      expect(await other.sizes([name], signal)).toEqual(new Map());
      await one.write(name, valueOf([Buffer.from('old')]), signal);
      await expect(one.write(name, broken, signal, true)).rejects.toThrow('the file was cut');
      expect(Buffer.from(await other.read(name, 0, 9, signal)).toString()).toBe('old');
    });

    test.each([
      ['before it begins', -1, [randomBytes(9)]],
      ['at its only piece', 0, [randomBytes(9)]],
      ['at its last piece', LAST, pieces()],
    ])('leaves what was there if a write is aborted %s', async (_, at, content) => {
      const [one, other] = two();
      await one.write(name, valueOf([Buffer.from('old')]), signal);
      const stop = new AbortController();
      if (at === -1) stop.abort();
      const value = valueOf(content, (index) => index === at && stop.abort());
      await expect(one.write(name, value, stop.signal, true)).rejects.toThrow();
      expect(Buffer.from(await other.read(name, 0, 9, signal)).toString()).toBe('old');
      expect(await other.sizes([name], signal)).toEqual(new Map([[name, 3]]));
    });

    test('overwrites a value if it is asked to', async () => {
      const [one, other] = two();
      const read = async () => Buffer.from(await other.read(name, 0, 9, signal)).toString();
      await one.write(name, valueOf([Buffer.from('first')]), signal);
      await other.write(name, valueOf([Buffer.from('2nd')]), signal);
      expect(['first', '2nd']).toContain(await read());
      await other.write(name, valueOf([Buffer.from('third')]), signal, true);
      expect(await read()).toBe('third');
    });

    test('keeps one complete value of two that are written at the same time', async () => {
      const [one, other] = two();
      const values = [pieces(), pieces()];
      await Promise.all(values.map((each, i) => (i === 0 ? one : other).write(name, valueOf(each), signal)));
      const whole = values.map((each) => Buffer.concat(each));
      const read = Buffer.from(await one.read(name, 0, 1 + (whole[0]?.length ?? 0), signal));
      expect(whole.some((each) => each.equals(read))).toBe(true);
    });

    test('removes a value, and accepts that it is missing', async () => {
      const [one, other] = two();
      await one.write(name, valueOf([randomBytes(9)]), signal);
      await other.remove(name, signal);
      await one.remove(name, signal);
      expect(await one.sizes([name], signal)).toEqual(new Map());
      expect(await one.read(name, 0, 5, signal)).toHaveLength(0);
    });

    test('goes on after a reset', async () => {
      const [one] = two();
      await one.write(name, valueOf([randomBytes(9)]), signal);
      one.reset();
      expect(await one.sizes([name], signal)).toEqual(new Map([[name, 9]]));
      await one.remove(name, signal);
    });

    test('rejects with a known reason if the storage is unreachable', async () => {
      const driver = opened(unreachable());
      const calls = [
        () => driver.sizes([name], signal),
        () => driver.write(name, valueOf([randomBytes(9)]), signal),
      ];
      for (const call of calls) {
        const error: unknown = await call().then(
          () => undefined,
          (failure: unknown) => failure,
        );
        expect(error).toBeInstanceOf(Error);
        expect(reasonOf(error)).not.toBe('other');
      }
    });
  });
});

/** 17.5 MiB: S3 takes it in three parts. */
function pieces(): Buffer[] {
  const content = randomBytes(LAST * MIB + MIB / 2);
  return Array.from({ length: LAST + 1 }, (_, i) => content.subarray(i * MIB, (i + 1) * MIB));
}

function randomName(): string {
  return randomBytes(32).toString('hex');
}

/** Closed at the end of the test. */
function opened(driver: Driver): Driver {
  onTestFinished(() => driver.reset());
  return driver;
}
