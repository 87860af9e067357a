import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTicks, stealPercent } from '../lib/machine.ts';
import type { Method, Run } from './ours.ts';
import type { Case } from './prompt.ts';

/** One run, and the machine's other load. */
export interface Round extends Run {
  /** Load average: runnable processes, mean of the last minute when the run ended. */
  machineLoad: number;
  stealPercent: number;
}

/** Lets the thread pools of the previous method go to sleep: two pools that spin on the same cores slow each other. */
export const SETTLE_MS = 700;

/** All rounds of one case, the methods alternating: a machine that slows down slows all of them. */
export async function runRounds(
  methods: readonly Method[],
  prompt: Case,
  rounds: number,
): Promise<Map<string, Round[]>> {
  const runs = new Map<string, Round[]>(methods.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of methods) {
      await sleep(SETTLE_MS);
      const before = cpuTicks();
      const result = await run(prompt);
      const noise = { machineLoad: loadavg()[0] ?? 0, stealPercent: stealPercent(before) };
      runs.get(name)?.push({ ...result, ...noise });
      const time = (result.ms / 1000).toFixed(2);
      const steal = noise.stealPercent.toFixed(0);
      process.stderr.write(
        `  round ${round + 1}/${rounds} ${name}: ${time} s (load ${noise.machineLoad.toFixed(1)}, ${steal} % stolen)\n`,
      );
    }
  }
  return runs;
}
