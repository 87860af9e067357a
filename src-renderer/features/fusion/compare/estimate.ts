import { SWEEP_RATIOS } from '../../../../src-shared/comparison.ts';
import type { FusionReport } from '../../../../src-shared/fusion-report.ts';
import { besideFullPrefill } from '../../../../src-shared/ttft.ts';

/** Prompts that a comparison makes besides those of the ways that blend: full prefill and prefix cache. */
const FULL_PREFILLS = 2;
/** Full reuse, and the answer's own strategy. */
const BLENDS = 2;

interface CompareWish {
  /** Strategies besides those that are always compared. */
  more: number;
  deep: boolean;
}

/**
 * The least milliseconds that making the prompts takes, as the full prefill's time and this answer's say; writing the texts, and
 * a deep comparison's looking, come on top. null while no full prefill's time is known.
 */
export function leastMs(report: FusionReport, { more, deep }: CompareWish): number | null {
  const beside = besideFullPrefill(report);
  if (!beside) return null;
  const fullPrefillMs = beside.fullTtftMs - beside.sharedMs;
  const blend = Math.min(fullPrefillMs, report.ttftMs.total - beside.sharedMs);
  return FULL_PREFILLS * fullPrefillMs + (BLENDS + more + (deep ? SWEEP_RATIOS.length : 0)) * blend;
}

/** What is left when `done` of `total` took `elapsedMs`; null while too little is done to say. */
export function leftMs(done: number, total: number, elapsedMs: number): number | null {
  const share = done / Math.max(1e-9, total);
  return share < 0.05 || share > 1 ? null : (elapsedMs * (1 - share)) / share;
}
