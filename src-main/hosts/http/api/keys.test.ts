import { expect, test } from 'vitest';
import { WrongKeys } from './keys.ts';

function counted() {
  const clock = { ms: 0 };
  const wrong = new WrongKeys(() => clock.ms);
  let guesses = 0;
  const send = (address: string, times = 100): void => {
    for (let i = 0; i < times; i++) wrong.count(address, `guess ${guesses++}`);
  };
  return { clock, wrong, send };
}

test('after a hundred wrong keys an address waits until the minute is over, and others do not', () => {
  const { clock, wrong, send } = counted();
  send('10.0.0.1', 99);
  expect(wrong.waitSeconds('10.0.0.1')).toBe(0);
  clock.ms = 15_500;
  send('10.0.0.1', 1);
  expect(wrong.waitSeconds('10.0.0.1')).toBe(45);
  expect(wrong.waitSeconds('10.0.0.2')).toBe(0);
  clock.ms = 60_000;
  expect(wrong.waitSeconds('10.0.0.1')).toBe(0);
});

test('a client that repeats its wrong key has guessed once', () => {
  const { wrong } = counted();
  for (let i = 0; i < 1000; i++) wrong.count('10.0.0.1', 'old key');
  expect(wrong.waitSeconds('10.0.0.1')).toBe(0);
});

test('right keys are remembered with the address that used them, the newest ten thousand', () => {
  const { wrong } = counted();
  wrong.know('10.0.0.1', 'right');
  expect(wrong.isKnown('10.0.0.1', 'right')).toBe(true);
  expect(wrong.isKnown('10.0.0.2', 'right')).toBe(false);
  expect(wrong.isKnown('10.0.0.1', 'other')).toBe(false);
  for (let i = 0; i < 10_000; i++) wrong.know('10.0.0.3', `key ${i}`);
  expect(wrong.isKnown('10.0.0.1', 'right')).toBe(false);
  expect(wrong.isKnown('10.0.0.3', 'key 0')).toBe(true);
});

test('the addresses of one IPv6 network are one', () => {
  const { wrong, send } = counted();
  for (let i = 0; i < 100; i++) send(`2001:db8:1:2::${i}`, 1);
  expect(wrong.waitSeconds('2001:db8:1:2:ffff::1')).toBeGreaterThan(0);
  expect(wrong.waitSeconds('2001:db8:1:3::1')).toBe(0);
});

test('a flood of addresses shares one count, which those from before do not', () => {
  const { wrong, send } = counted();
  for (let i = 0; i < 10_000; i++) send(`10.1.${i >> 8}.${i & 255}`, 1);
  for (let i = 0; i < 100; i++) send(`10.2.0.${i}`, 1);
  expect(wrong.waitSeconds('10.3.0.1')).toBeGreaterThan(0);
  expect(wrong.waitSeconds('10.1.0.1')).toBe(0);
});
