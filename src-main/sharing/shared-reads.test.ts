import { setImmediate as tick } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Driver } from './driver.ts';
import { keyOf, machine } from './sharing.test-support.ts';

const MB = 2 ** 20;

/** A storage that has every value, all of one size, and lets a test respond. */
class Place implements Driver {
  readonly largestBytes = Infinity;
  underWay = 0;
  most = 0;
  asked = 0;
  readonly reset = vi.fn();
  readonly #answer: (bytes: number, signal: AbortSignal) => Promise<void>;

  constructor(answer: (bytes: number, signal: AbortSignal) => Promise<void>) {
    this.#answer = answer;
  }

  sizes(names: readonly string[]): Promise<Map<string, number>> {
    return Promise.resolve(new Map(names.map((name) => [name, 4 * MB])));
  }

  async read(_name: string, _from: number, bytes: number, signal: AbortSignal): Promise<Uint8Array> {
    this.asked++;
    this.most = Math.max(this.most, ++this.underWay);
    try {
      await this.#answer(bytes, signal);
      return new Uint8Array(bytes);
    } finally {
      this.underWay--;
    }
  }

  write(): Promise<void> {
    return Promise.reject(new Error('nothing is written'));
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }
}

/** A line that all calls in progress share equally, byte for byte. */
function line(bytesPerSecond: number): (bytes: number) => Promise<void> {
  const left = new Map<() => void, number>();
  const timer = setInterval(() => {
    const each = bytesPerSecond / 100 / left.size;
    for (const [end, bytes] of left)
      if (bytes > each) left.set(end, bytes - each);
      else if (left.delete(end)) end();
  }, 10);
  onTestFinished(() => clearInterval(timer));
  return (bytes) => new Promise((resolve) => left.set(resolve, bytes));
}

test('all chunks of a long prompt come over a line of 25 Mbit/s at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const cache = machine(new Place(line(25e6 / 8)));
  const values = await Promise.all(Array.from({ length: 12 }, (_, id) => cache.open(keyOf(id))));
  let came = 0;
  const read = async (value: (typeof values)[number]): Promise<void> => {
    for (let from = 0; from < 4 * MB; from += 2 * MB) {
      await Promise.all([value?.read(from, MB), value?.read(from + MB, MB)]);
      came += 2;
    }
  };
  const reading = Promise.all(values.map(read));
  reading.catch(() => undefined);
  for (let seconds = 0; seconds < 40 && came < 48; seconds++) await vi.advanceTimersByTimeAsync(1000);
  await reading;
  expect(cache.available).toBe(true);
});

test('ranges are asked for a few at a time over all values, and one that is given up gives way', async () => {
  const answers: (() => void)[] = [];
  const place = new Place(() => new Promise((resolve) => answers.push(resolve)));
  const cache = machine(place);
  const values = await Promise.all([1, 2, 3, 4].map((id) => cache.open(keyOf(id))));
  const reads = values.flatMap((value) => [value!.read(0, MB), value!.read(MB, MB)]);
  await tick();
  expect(place.asked).toBe(4);
  values[2]!.close();
  const given = await Promise.allSettled(reads.slice(4, 6));
  expect(given.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (let answered = 0; answered < 6; answered++) {
    answers[answered]?.();
    await tick();
  }
  await Promise.all([...reads.slice(0, 4), ...reads.slice(6)]);
  expect(place.most).toBe(4);
  expect(place.asked).toBe(6);
});

test('once a place was found not to answer, what waits for its turn does not ask it either', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const place = new Place(
    (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
  );
  const cache = machine(place);
  const values = await Promise.all([1, 2, 3, 4].map((id) => cache.open(keyOf(id))));
  const reads = values.flatMap((value) => [value!.read(0, MB), value!.read(MB, MB)]);
  const ended = Promise.allSettled(reads);
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
  expect(cache.available).toBe(false);
  expect(place.asked).toBe(4);
});
