import { expect, test } from 'vitest';
import { Rounds } from './rounds.ts';

function fixture(round: (signal: AbortSignal, index: number) => Promise<void> = () => Promise.resolve()) {
  let begun = 0;
  const failures: unknown[] = [];
  const rounds = new Rounds({
    work: (signal) => round(signal, begun++),
    pauseMs: 1,
    onFailed: (error) => failures.push(error),
  });
  return { rounds, failures, begun: () => begun };
}

test('called for many times, a round is under way and one waits', async () => {
  let end = (): void => undefined;
  const { rounds, begun } = fixture((_, index) =>
    index === 0 ? new Promise((resolve) => (end = resolve)) : Promise.resolve(),
  );
  for (let i = 0; i < 5; i++) {
    rounds.soon();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  expect(begun()).toBe(1);
  end();
  await rounds.idle();
  expect(begun()).toBe(2);
});

test('a round that fails is told of, and the next begins', async () => {
  const { rounds, failures, begun } = fixture((_, index) =>
    index === 0 ? Promise.reject(new Error('no')) : Promise.resolve(),
  );
  rounds.soon();
  await rounds.idle();
  rounds.soon();
  await expect.poll(begun).toBe(2);
  expect(failures).toEqual([new Error('no')]);
});

test('closed: the round under way is stopped without a word, subscriptions end, and none begins', async () => {
  const { rounds, failures, begun } = fixture(
    (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  );
  let subscribed = 1;
  rounds.until([() => subscribed--]);
  rounds.soon();
  await expect.poll(begun).toBe(1);
  await rounds.close();
  rounds.soon();
  await rounds.idle();
  expect({ subscribed, begun: begun(), failures }).toEqual({ subscribed: 0, begun: 1, failures: [] });
});
