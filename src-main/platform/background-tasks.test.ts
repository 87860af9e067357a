import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted } from './abort.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { Gate } from './gate.ts';

function fixture() {
  const gate = new Gate();
  const failures: unknown[] = [];
  const afterwards = new BackgroundTasks({ gate, onFailed: (error) => failures.push(error) });
  const done: string[] = [];
  return { gate, failures, afterwards, done };
}

test('one piece after another, and a failure ends only its own', async () => {
  const { afterwards, done, failures } = fixture();
  const full = new KvasirError('DISK_FULL', 'no room');
  afterwards.add(async () => {
    await Promise.resolve();
    done.push('first');
  });
  afterwards.add(() => Promise.reject(full));
  afterwards.add(async () => void done.push('third'));
  await afterwards.idle();
  expect(done).toEqual(['first', 'third']);
  expect(failures).toEqual([full]);
});

test('a question interrupts it, and it restarts afterwards', async () => {
  const { afterwards, gate, done, failures } = fixture();
  let question: Promise<unknown> | undefined;
  afterwards.add(async (signal) => {
    done.push('begun');
    question ??= gate.foreground(async () => void done.push('answered'));
    throwIfAborted(signal);
    done.push('ended');
  });
  await afterwards.idle();
  await question;
  expect(done).toEqual(['begun', 'answered', 'begun', 'ended']);
  expect(failures).toEqual([]);
});

test('stopped: what is under way ends without a word, what waits is given up, and later work is done', async () => {
  const { afterwards, done, failures } = fixture();
  const begun = Promise.withResolvers<undefined>();
  afterwards.add(
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new KvasirError('ABORTED', 'stopped')));
        begun.resolve(undefined);
      }),
  );
  afterwards.add(async () => void done.push('given up'));
  await begun.promise;
  await afterwards.stop();
  afterwards.add(async () => void done.push('later'));
  await afterwards.idle();
  expect({ done, failures }).toEqual({ done: ['later'], failures: [] });
});
