import { expect, test } from 'vitest';
import { Meter } from './meter.ts';

function meterAt(): { meter: Meter; pass: (ms: number) => void } {
  let now = 0;
  const meter = new Meter({ now: () => now, wall: () => now });
  return { meter, pass: (ms) => (now += ms) };
}

const UNREAD = { phase: 'waiting', format: 'txt', bytes: 4000, textLength: 0 } as const;

test('files that were not read count by their size, and by what files of their format held once some were cut', () => {
  const { meter } = meterAt();
  expect(meter.estimate([UNREAD])).toBe(1000);
  expect(meter.estimate([{ ...UNREAD, format: 'pdf' }])).toBe(100);
  expect(meter.estimate([{ phase: 'chunking', format: 'pdf', bytes: 9, textLength: 400 }])).toBe(100);
  meter.learn([{ format: 'txt', bytes: 2000, textLength: 1000, tokens: 400 }]);
  expect(meter.estimate([UNREAD])).toBe(800);
  expect(meter.estimate([{ phase: 'chunking', format: 'txt', bytes: 9, textLength: 1000 }])).toBe(400);
});

test('the time left is that of what was cut and what was not, and of what takes longer: vectors or KV', () => {
  const { meter, pass } = meterAt();
  expect(meter.secondsLeft(1000)).toBeNull();
  meter.expect(1, 200);
  pass(1000);
  meter.computed(1, 100, 0); // 10 ms a token
  expect(meter.secondsLeft(1000)).toBeCloseTo(11);
  expect(meter.secondsLeft(1000, 500)).toBeCloseTo(5);
  meter.expectVectors(2, 100);
  pass(3000);
  meter.embedded(2, 100, 1000); // 30 ms a token
  expect(meter.secondsLeft(1000)).toBeCloseTo(30);
});
