import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heapAtRest } from './heap-at-rest.ts';

test('garbage is collected once the event loop has rested, and again only after more work', async () => {
  let utilization = 0;
  const call = heapAtRest({ eventLoopUtilization: () => ({ idle: 1, active: utilization, utilization }) });
  const rest = (): void => {
    utilization = 0.001;
    call();
  };
  const work = (): void => {
    utilization = 0.5;
    call();
  };
  /** Objects are kept until the current job ends. */
  const garbage = async (): Promise<WeakRef<object>> => {
    const ref = new WeakRef({});
    await setImmediate();
    return ref;
  };

  const first = await garbage();
  work();
  expect(first.deref()).toBeDefined();
  await setImmediate();
  rest();
  expect(first.deref()).toBeUndefined();

  const second = await garbage();
  rest();
  expect(second.deref()).toBeDefined();
  await setImmediate();
  work();
  rest();
  expect(second.deref()).toBeUndefined();
});
