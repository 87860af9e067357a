import { expect, test } from 'vitest';
import { randomFrom } from '../../testing/random.ts';
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

test('the time left comes from the cost model until KV was computed', () => {
  const { meter, pass } = meterAt();
  meter.expect(1, 1000);
  expect(meter.secondsLeft(1000, Infinity, 5)).toBeCloseTo(10);
  expect(meter.secondsLeft(1000, 500, 5)).toBeCloseTo(2.5);
  pass(1000);
  meter.computed(1, 100, 0);
  expect(meter.secondsLeft(1000, Infinity, 5)).toBeCloseTo(19);
});

test('after a minute it is right within 20 %, whatever single chunks take', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    let now = 0;
    const meter = new Meter({ now: () => now, wall: () => now });
    // Chunks of 64 to 512 tokens at 4 ms a token; one in twenty waits for a question that takes 3 s.
    const chunks = Array.from({ length: 600 }, () => {
      const tokens = 64 + Math.floor(random() * 448);
      return { tokens, ms: tokens * 4 * (0.8 + random() * 0.4) + (random() < 0.05 ? 3000 : 0) };
    });
    const total = chunks.reduce((sum, { ms }) => sum + ms, 0);
    meter.expect(
      1,
      chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    );
    for (const { tokens, ms } of chunks) {
      const startedAt = now;
      now += ms;
      meter.computed(1, tokens, startedAt);
      if (now < 60_000 || now > 0.8 * total) continue; // the last chunks are too few for an average
      const left = (meter.secondsLeft(0) ?? 0) * 1000;
      expect(Math.abs(left / (total - now) - 1)).toBeLessThan(0.2);
    }
  }
});
