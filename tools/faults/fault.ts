import type { Known } from './known.ts';

/** A data folder with something in it, which nobody has open. */
export interface Place {
  data: string;
  known: Known;
  /** A good backup of it. */
  backup: string;
  /** From 0 to below `n`; the same in each run of a round. */
  random: (n: number) => number;
}

/** Thrown by a fault that this machine lacks something for: what it needs. Its rounds then count as nothing. */
export class Skipped extends Error {}

/**
 * One thing that can go wrong. `run` brings it about with real processes, and throws when Kvasir did not do what it is to do. What it
 * leaves running is stopped. Then Kvasir is started once more, and everything has to be there.
 */
export interface Fault {
  name: string;
  /** For the table: what goes wrong, and what has to hold besides what always does. */
  covers: string;
  run(place: Place): Promise<void>;
}
