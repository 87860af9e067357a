/** The clock of the services, which tests can stop. */
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
