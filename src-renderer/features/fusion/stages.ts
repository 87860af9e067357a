import type { Ttft } from '../../../src-shared/ttft.ts';
import type { FusionLayer } from '../../../src-shared/fusion-report.ts';
import { waitOf } from '../../viz/gantt/layout.ts';
import { STAGES, type StageName } from '../../viz/stages.ts';

export function longestStage(ttft: Ttft): StageName {
  return STAGES.reduce((longest, stage) => (ttft[stage] > ttft[longest] ? stage : longest));
}

/** Totals of the pipeline, in milliseconds. */
interface PipelineSums {
  load: number;
  compute: number;
  /** Time in which computing waited for data. */
  wait: number;
  /** Share of the loading time that overlapped with computing; null if nothing was loaded. */
  hidden: number | null;
}

export function pipelineSums(layers: readonly FusionLayer[]): PipelineSums {
  let [load, compute, wait, overlap] = [0, 0, 0, 0];
  for (const [row, layer] of layers.entries()) {
    load += layer.loadEnd - layer.loadStart;
    compute += layer.computeEnd - layer.computeStart;
    const waited = waitOf(layers, row);
    wait += waited ? waited.end - waited.start : 0;
    for (const { computeStart, computeEnd } of layers)
      overlap += Math.max(0, Math.min(layer.loadEnd, computeEnd) - Math.max(layer.loadStart, computeStart));
  }
  return { load, compute, wait, hidden: load > 0 ? Math.min(1, overlap / load) : null };
}
