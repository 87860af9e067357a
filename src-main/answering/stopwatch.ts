import type { Clock } from '../platform/clock.ts';

/** Time since the start, and since the last lap. */
export class Stopwatch {
  readonly start: number;
  lapStart: number;
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.start = clock.now();
    this.lapStart = this.start;
  }

  lap(): number {
    const now = this.clock.now();
    const elapsed = now - this.lapStart;
    this.lapStart = now;
    return elapsed;
  }
}
