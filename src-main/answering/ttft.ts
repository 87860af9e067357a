import type { Ttft } from '../../src-shared/ttft.ts';
import type { BlendResult } from '../fusion/blender.ts';

/** The parts of the time to first token; the remainder of the total is `other`. */
export function ttftOf(
  { report: { stages, totalMs }, acquireMs }: BlendResult,
  { total, planMs, ...times }: Omit<Ttft, 'acquire' | BlendStage | 'other'> & { planMs: number },
): Ttft {
  const blending: Pick<Ttft, BlendStage> = {
    load: stages.loadWait,
    place: stages.place,
    check: stages.question + stages.check + stages.select,
    recompute: stages.compute + stages.head,
  };
  // Rows gathered, layers started: what an append does between its stages.
  blending.recompute += Math.max(0, totalMs - sum(Object.values(blending)));
  const parts = { ...times, acquire: planMs + acquireMs, ...blending };
  return { total, ...parts, other: Math.max(0, total - sum(Object.values(parts))) };
}

type BlendStage = 'load' | 'place' | 'check' | 'recompute';

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
