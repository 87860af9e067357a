import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heapAtRest } from './heap-at-rest.ts';

test('garbage is collected once the event loop has rested, and again only after more work', async () => {
  const call = heapAtRest();
  const rest = async (): Promise<void> => {
    await setTimeout(200);
    call();
  };
  const work = (): void => {
    for (const end = performance.now() + 100; performance.now() < end;);
    call();
  };
  /** Objects are kept until the current job ends. */
  const garbage = async (): Promise<WeakRef<object>> => {
    const ref = new WeakRef({});
    await setTimeout(0);
    return ref;
  };

  const first = await garbage();
  work();
  expect(first.deref()).toBeDefined();
  await rest();
  expect(first.deref()).toBeUndefined();

  const second = await garbage();
  await rest();
  expect(second.deref()).toBeDefined();
  work();
  await rest();
  expect(second.deref()).toBeUndefined();
});
