import { expect, test } from 'vitest';
import { eventsOf } from './events-of.ts';

async function read<E, R>(events: AsyncGenerator<E, R>): Promise<{ told: E[]; result: R }> {
  const told: E[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done) return { told, result: next.value };
    told.push(next.value);
  }
}

test('yields what the work reports, in order, then its result', async () => {
  const events = eventsOf<number, string>(async (tell) => {
    tell(1);
    tell(2);
    await new Promise((resolve) => setTimeout(resolve, 5));
    tell(3);
    return 'done';
  });
  expect(await read(events)).toEqual({ told: [1, 2, 3], result: 'done' });
});

test('throws the failure of the work after the events before it', async () => {
  const events = eventsOf<number, never>(async (tell) => {
    tell(1);
    throw new Error('broken');
  });
  expect(await events.next()).toEqual({ done: false, value: 1 });
  await expect(events.next()).rejects.toThrow('broken');
});

test('a reader that stops early ends the work, and waits for it', async () => {
  let ended = false;
  const events = eventsOf<number, undefined>(async (tell, stop) => {
    tell(1);
    await new Promise((resolve) => stop.addEventListener('abort', resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
    ended = true;
    return undefined;
  });
  for await (const event of events) {
    expect(event).toBe(1);
    break;
  }
  expect(ended).toBe(true);
});
