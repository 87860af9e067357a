import { expect, test } from 'vitest';
import { RecurringTask } from './recurring-task.ts';

function fixture(round: (signal: AbortSignal, index: number) => Promise<void> = () => Promise.resolve()) {
  let begun = 0;
  const failures: unknown[] = [];
  const task = new RecurringTask({
    work: (signal) => round(signal, begun++),
    pauseMs: 1,
    onFailed: (error) => failures.push(error),
  });
  return { task, failures, begun: () => begun };
}

test('called for many times, a round is under way and one waits', async () => {
  let end = (): void => undefined;
  const { task, begun } = fixture((_, index) =>
    index === 0 ? new Promise((resolve) => (end = resolve)) : Promise.resolve(),
  );
  for (let i = 0; i < 5; i++) {
    task.soon();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  expect(begun()).toBe(1);
  end();
  await task.idle();
  expect(begun()).toBe(2);
});

test('a round that fails is told of, and the next begins', async () => {
  const { task, failures, begun } = fixture((_, index) =>
    index === 0 ? Promise.reject(new Error('no')) : Promise.resolve(),
  );
  task.soon();
  await task.idle();
  task.soon();
  await expect.poll(begun).toBe(2);
  expect(failures).toEqual([new Error('no')]);
});

test('closed: the round under way is stopped without a word, subscriptions end, and none begins', async () => {
  const { task, failures, begun } = fixture(
    (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  );
  let subscribed = 1;
  task.until([() => subscribed--]);
  task.soon();
  await expect.poll(begun).toBe(1);
  await task.close();
  task.soon();
  await task.idle();
  expect({ subscribed, begun: begun(), failures }).toEqual({ subscribed: 0, begun: 1, failures: [] });
});
