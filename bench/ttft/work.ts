import type { AppendReport } from '../../src-main/engine/engine.ts';
import type { Shape } from '../../tools/random-model/shapes.ts';

/** What an append has to do, whatever it is done with. */
export interface Work {
  /** Multiplications and additions of the matrices, attention and the head, in billions. */
  gflop: number;
  /** Bytes that must be read at least once: every layer's weights, and stored KV. */
  gbytes: number;
}

/** Counts an append's work from its report: rows of every layer, and the keys they attend to. `bytesOfWeights` of all layers. */
export function workOf(report: AppendReport, shape: Shape, vocab: number, bytesOfWeights: number): Work {
  const { embd, heads, kvHeads, headDim, ff, experts } = shape;
  const each = experts ? experts.used * experts.ff + experts.count / 3 : ff;
  const weights = embd * headDim * (2 * heads + 2 * kvHeads) + 3 * embd * each;
  const pairFlop = 4 * heads * headDim;
  let flop = 2 * embd * vocab;
  for (const { layer, rows } of report.layers)
    flop += rows * 2 * weights + pairFlop * pairs(rows, report.tokens, windowOf(shape, layer));
  return { gflop: flop / 1e9, gbytes: (bytesOfWeights + report.bytesLoaded) / 1e9 };
}

/** Of the families with windows that benches use: Gemma 3's pattern. */
const PERIOD = 6;

function windowOf({ window }: Shape, layer: number): number {
  return window !== undefined && layer % PERIOD < PERIOD - 1 ? window : Infinity;
}

/** Rows spread evenly over the prompt see half of it on average, the question's at its end nearly all: counted as even. */
function pairs(rows: number, tokens: number, window: number): number {
  return rows * Math.min((tokens + 1) / 2, window);
}
