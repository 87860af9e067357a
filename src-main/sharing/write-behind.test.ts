import { expect, onTestFinished, test, vi } from 'vitest';
import { tempDir } from '../testing/store.ts';
import type { Driver } from './driver.ts';
import { FolderDriver } from './drivers/folder.ts';
import { keyOf, machine, readAll, share, someFile } from './sharing.test-support.ts';

/** Drivers of one folder, whose writes a test replaces. */
function folder(): () => Driver {
  const dir = tempDir();
  return () => new FolderDriver({ dir, readOnly: false, limitBytes: Infinity });
}

function failing(code: string): Error {
  return Object.assign(new Error('refused'), { code });
}

test.each([
  ['credentials that may only read', 'AccessDenied', 'sharing-denied'],
  ['a connection that was cut', 'ECONNRESET', 'sharing-unreachable'],
])('of %s a failing write is told, and reading goes on', async (_, code, reason) => {
  const make = folder();
  const { path, content } = someFile(300_000);
  await share(machine(make()), 1, path);
  const driver = make();
  driver.write = () => Promise.reject(failing(code));
  const reset = vi.spyOn(driver, 'reset');
  const cache = machine(driver);
  const value = await cache.open(keyOf(1));
  await share(cache, 2, path);
  expect(cache.failure?.values?.['reason']).toBe(reason);
  expect(cache.available).toBe(true);
  expect(reset).not.toHaveBeenCalled();
  expect(cache.waiting).toBe(1); // retried later
  expect((await value?.read(100_000, 200_000))?.length).toBe(200_000);
  expect((await readAll(cache, 1))?.equals(content)).toBe(true);
});

test('a file that cannot be written leaves its place to the others, and is let go after three times', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const driver = folder()();
  const write = driver.write.bind(driver);
  const [wrong, right] = [someFile(1000), someFile(2000)];
  let tried = 0;
  driver.write = (name, value, signal) => {
    if (value.bytes !== 1000) return write(name, value, signal);
    tried++;
    return Promise.reject(failing('EIO'));
  };
  const cache = machine(driver);
  cache.offer(keyOf(1), wrong.path);
  cache.offer(keyOf(2), right.path);
  for (const times of [1, 2, 3]) {
    await vi.waitFor(() => expect(tried).toBe(times));
    await cache.settled();
    await vi.advanceTimersByTimeAsync(30_000);
  }
  expect(cache.figures.written).toBe(1);
  expect(cache.waiting).toBe(0);
});

test('a write that hangs is given up in time, and no other is begun before it has ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const driver = folder()();
  const { promise: hanging, resolve: end } = Promise.withResolvers<undefined>();
  const write = vi.spyOn(driver, 'write').mockImplementation(() => hanging);
  const cache = machine(driver);
  cache.offer(keyOf(1), someFile(1000).path);
  await vi.waitFor(() => expect(write).toHaveBeenCalledOnce());
  await vi.advanceTimersByTimeAsync(3000);
  await cache.settled();
  expect(cache.failure?.values?.['reason']).toBe('sharing-timeout');
  expect(cache.available).toBe(true);
  await vi.advanceTimersByTimeAsync(30_000);
  await cache.settled();
  expect(write).toHaveBeenCalledOnce();
  end(undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.waitFor(() => expect(cache.figures.written).toBe(1));
});
