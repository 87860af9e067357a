import type { Baseline } from './baseline.ts';

/** A data folder with content that no process has open. */
export interface Place {
  data: string;
  known: Baseline;
  /** An intact backup of the folder. */
  backup: string;
  /** An integer from 0 to below `n`; the same sequence in each run of a round. */
  random: (n: number) => number;
}

/** Thrown by a fault that this machine cannot run; the message names the missing requirement. Its rounds are not counted. */
export class FaultSkipped extends Error {}

/**
 * One failure scenario. `run` causes it with real processes and throws if Kvasir misbehaves. The runner then stops all remaining processes,
 * starts Kvasir again and checks that no data is lost.
 */
export interface Fault {
  name: string;
  /** For the table: what goes wrong, and what must hold besides the common checks. */
  covers: string;
  run(place: Place): Promise<void>;
}
