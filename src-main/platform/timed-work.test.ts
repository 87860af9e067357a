import { expect, test } from 'vitest';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { EventBus } from './event-bus.ts';
import { silentLogger } from './logger.ts';
import { timedWork } from './timed-work.ts';

function fixture(work: () => void) {
  const events = new EventBus();
  const told: KvasirEvent[] = [];
  events.on((event) => told.push(event));
  return { run: timedWork({ events, log: silentLogger }, work), told };
}

test('a failure gives one notice, until the work has succeeded again', () => {
  let failing = true;
  const { run, told } = fixture(() => {
    if (failing) throw new KvasirError('STORE_READ_ONLY', 'The drive is gone.', 'Connect it.');
  });
  expect([run(), run()]).toEqual([false, false]);
  expect(told).toEqual([
    {
      topic: 'app.notice',
      payload: {
        level: 'warning',
        failure: { code: 'STORE_READ_ONLY', message: 'The drive is gone.', advice: 'Connect it.' },
      },
    },
  ]);
  failing = false;
  expect(run()).toBe(true);
  failing = true;
  expect(run()).toBe(false);
  expect(told).toHaveLength(2);
});

test('a defect is thrown', () => {
  const { run, told } = fixture(() => {
    throw new TypeError('no');
  });
  expect(run).toThrow(TypeError);
  expect(told).toEqual([]);
});
