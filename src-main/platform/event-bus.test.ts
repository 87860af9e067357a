import { expect, test } from 'vitest';
import { EventBus } from './event-bus.ts';

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
