import { SWEEP_RATIOS } from '../../../../src-shared/comparison.ts';
import type { FusionReport } from '../../../../src-shared/fusion-report.ts';
import { compareTtft } from '../../../../src-shared/ttft.ts';

/** Prompts processed in addition to those of the blending methods: full prefill and prefix cache. */
const FULL_PREFILLS = 2;
/** Full reuse, and the answer's own strategy. */
const BLENDS = 2;

interface EstimateInput {
  /** Optional strategies, in addition to those always compared. */
  more: number;
  deep: boolean;
}

/**
 * Minimum milliseconds to process the prompts, based on the full prefill's time and this answer's; generating the texts
 * and a deep comparison's analysis come on top. null if the full prefill's time is unknown.
 */
export function leastMs(report: FusionReport, { more, deep }: EstimateInput): number | null {
  const beside = compareTtft(report);
  if (!beside) return null;
  const fullPrefillMs = beside.fullTtftMs - beside.sharedMs;
  const blend = Math.min(fullPrefillMs, report.ttftMs.total - beside.sharedMs);
  return FULL_PREFILLS * fullPrefillMs + (BLENDS + more + (deep ? SWEEP_RATIOS.length : 0)) * blend;
}

/** Time left if `done` of `total` took `elapsedMs`; null if too little is done to tell. */
export function leftMs(done: number, total: number, elapsedMs: number): number | null {
  const share = done / Math.max(1e-9, total);
  return share < 0.05 || share > 1 ? null : (elapsedMs * (1 - share)) / share;
}
