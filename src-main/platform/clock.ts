/** Time as services see it, so that tests can stand still. */
export interface Clock {
  /** Milliseconds on a monotonic scale: for durations. */
  now(): number;
  /** Milliseconds since 1970: for timestamps on disk. */
  wall(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
};
