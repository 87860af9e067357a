import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coloured, type HighlightResult, type HighlightRequest } from './highlight-queue.ts';

/** Responds immediately, except to code that says `stuck`, after which it never responds. */
class FakeWorker {
  static made: FakeWorker[] = [];
  onmessage: ((event: { data: HighlightResult }) => void) | undefined;
  onerror: unknown;
  ended = false;
  #stuck = false;

  constructor() {
    FakeWorker.made.push(this);
  }

  postMessage({ id, code }: HighlightRequest): void {
    this.#stuck ||= code === 'stuck';
    const answer = (): void => this.onmessage?.({ data: { id, lines: [[{ text: code, style: {} }]] } });
    if (!this.#stuck) queueMicrotask(answer);
  }

  terminate(): void {
    this.ended = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('Worker', FakeWorker);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('code that is never done costs its own colours and those behind it; then there is a new worker', async () => {
  expect(await coloured('fine', 'json')).toEqual([[{ text: 'fine', style: {} }]]);
  const lost = Promise.allSettled([coloured('stuck', 'json'), coloured('behind', 'json')]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await coloured('again', 'json')).toEqual([[{ text: 'again', style: {} }]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeWorker.made.map(({ ended }) => ended)).toEqual([true, false]);
});
