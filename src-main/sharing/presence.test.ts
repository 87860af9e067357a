import { expect, onTestFinished, test, vi } from 'vitest';
import { Presence } from './presence.ts';

test('what is known of a value expires after a while, also when the clock is set back', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const presence = new Presence();
  presence.set('a', 4);
  presence.set('b', 'missing');
  vi.setSystemTime(new Date('1990-01-01'));
  vi.advanceTimersByTime(14_000);
  expect([presence.get('a'), presence.get('b')]).toEqual([4, 'missing']);
  vi.advanceTimersByTime(2000);
  expect([presence.get('a'), presence.get('b')]).toEqual([4, undefined]);
  vi.advanceTimersByTime(300_000);
  expect(presence.get('a')).toBeUndefined();
});
