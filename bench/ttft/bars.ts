import type { Row } from './table.ts';

/** Target and result of a method at 4k tokens of the 0.6b shape. */
export interface Bar {
  what: string;
  bar: string;
  measured: number;
  met: boolean;
}

interface Goal {
  what: string;
  method: string;
  against?: string;
  most?: number;
  least?: number;
}

/** Ratios of one method's median to another's (default: llama.cpp's full prefill), by context. */
const GOALS: Record<number, Goal[]> = {
  1024: [{ what: 'full prefill', method: 'full prefill', most: 0.8 }],
  4096: [
    { what: 'full prefill', method: 'full prefill', most: 0.4 },
    { what: 'default', method: 'default (query 15 %), disk, warm', most: 0.08 },
    { what: 'deviation 15 %', method: 'deviation 15 %, disk, warm', most: 0.08 },
    { what: 'deviation 5 %', method: 'deviation 5 %, disk, warm', most: 0.045 },
    { what: 'none', method: 'none, disk, warm', most: 0.025 },
    {
      what: 'turn 2, the same chunks',
      method: 'turn 2, the same chunks',
      against: 'full prefill',
      most: 0.05,
    },
    { what: 'turn 2, two new chunks', method: 'turn 2, two new chunks', against: 'full prefill', most: 0.15 },
    {
      what: 'query against deviation, 15 %',
      method: 'query 15 %, disk, warm',
      against: 'deviation 15 %, disk, warm',
      most: 1,
    },
    ...['none', 'query 15 %'].map((name) => ({
      what: `${name}: serial against pipelined, 4 Gbit/s`,
      method: `${name}, 4 Gbit/s, serial`,
      against: `${name}, 4 Gbit/s`,
      least: 1.3,
    })),
  ],
};

/** The same with both engines restricted to AVX2. */
const AVX2_GOALS: Record<number, Goal[]> = {
  4096: [
    { what: 'full prefill', method: 'full prefill', most: 0.8 },
    { what: 'deviation 15 %', method: 'deviation 15 %, disk, warm', most: 0.16 },
  ],
};

/** `cpu`: the CPU that both engines were restricted to, if any. */
export function barsOf(rows: readonly Row[], cpu?: string): Bar[] {
  return Object.entries(cpu === 'haswell' ? AVX2_GOALS : GOALS).flatMap(([context, goals]) => {
    const at = rows.filter((row) => row.context === Number(context));
    const bars = goals.flatMap((goal) => barOf(goal, at));
    const pipelines = Number(context) >= 4096 ? at.flatMap(pipelineBar) : [];
    return [...bars, ...pipelines].map((bar) => ({ ...bar, what: `${context}: ${bar.what}` }));
  });
}

function barOf({ what, method, against = 'llama.cpp full prefill', most, least }: Goal, rows: Row[]): Bar[] {
  const [row, base] = [method, against].map((name) => rows.find((candidate) => candidate.method === name));
  if (!row || !base) return [];
  const measured = against === 'llama.cpp full prefill' ? row.ratio : row.medianMs / base.medianMs;
  return most !== undefined
    ? [{ what, bar: `≤ ${most}`, measured, met: measured <= most }]
    : [{ what, bar: `≥ ${least ?? 0}`, measured, met: measured >= (least ?? 0) }];
}

/** A pipeline takes little longer than the longer of its two halves. */
function pipelineBar({ method, medianMs, loadMs, computeMs }: Row): Bar[] {
  if (loadMs === undefined || computeMs === undefined || method.includes('serial') || method.includes('turn'))
    return [];
  const measured = medianMs / Math.max(loadMs, computeMs);
  return [{ what: `${method}: time / max(load, compute)`, bar: '≤ 1.1', measured, met: measured <= 1.1 }];
}
