import { expect, test } from 'vitest';
import { EventBus, throttled } from './event-bus.ts';

test('a listener that throws is reported, and neither the others nor the service notice', () => {
  const errors: unknown[] = [];
  const heard: string[] = [];
  const bus = new EventBus((error) => errors.push(error));
  const gone = new Error('the window is gone');
  bus.on(() => {
    throw gone;
  });
  const end = bus.on(({ topic }) => heard.push(topic));
  bus.emit('models.changed', {});
  end();
  bus.emit('chat.changed', {});
  expect(heard).toEqual(['models.changed']);
  expect(errors).toEqual([gone, gone]);
});

test('without anybody to report to, it is thrown', () => {
  const bus = new EventBus();
  bus.on(() => {
    throw new Error('no');
  });
  expect(() => bus.emit('models.changed', {})).toThrow('no');
});

test('throttled work that fails is run again without a request, until it succeeds or is cancelled', async () => {
  let runs = 0;
  const request = throttled(10, () => ++runs >= 3);
  request();
  expect(runs).toBe(1);
  await expect.poll(() => runs).toBe(3);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(runs).toBe(3);
  const failing = throttled(10, () => {
    runs++;
    return false;
  });
  failing();
  failing.cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(runs).toBe(4);
});
