import type { AppendReport } from '../../src-main/engine/engine.ts';
import type { Shape } from '../../tools/random-model/shapes.ts';

/** The work of an append, independent of its implementation. */
export interface Work {
  /** Multiplications and additions of the matrices, attention and the head, in billions. */
  gflop: number;
  /** Bytes that must be read at least once: every layer's weights, and stored KV. */
  gbytes: number;
}

/** Counts an append's work from its report: rows of every layer, and the keys they attend to. `bytesOfWeights`: of all layers. */
export function workOf(report: AppendReport, shape: Shape, vocab: number, bytesOfWeights: number): Work {
  let flop = 2 * shape.embd * vocab;
  for (const { layer, rows } of report.layers) {
    const { weights, window, headDim } = layerOf(shape, layer);
    flop += rows * 2 * weights + 4 * shape.heads * headDim * pairs(rows, report.tokens, window);
  }
  return { gflop: flop / 1e9, gbytes: (bytesOfWeights + report.bytesLoaded) / 1e9 };
}

/** Gemma 3's window pattern: every PERIOD-th layer sees all tokens. */
const PERIOD = 6;

/**
 * Multiplications per row, and the keys it attends to. In shapes that share KV like Gemma 4, windowed layers have heads of half the size.
 */
function layerOf(shape: Shape, layer: number): { weights: number; window: number; headDim: number } {
  const { embd, heads, kvHeads, experts, sharing } = shape;
  const period = sharing?.period ?? PERIOD;
  const windowed = shape.window !== undefined && layer % period < period - 1;
  const headDim = sharing && windowed ? shape.headDim / 2 : shape.headDim;
  const shares = sharing !== undefined && layer >= shape.layers - sharing.layers;
  const ff = shares ? 2 * shape.ff : shape.ff;
  const each = experts ? experts.used * experts.ff + experts.count / 3 : ff;
  const weights = embd * headDim * (2 * heads + (shares ? 0 : 2 * kvHeads)) + 3 * embd * each;
  return { weights, window: windowed ? (shape.window ?? Infinity) : Infinity, headDim };
}

/** Rows spread evenly over the prompt see half of it on average, the question's rows at its end nearly all: counted as even. */
function pairs(rows: number, tokens: number, window: number): number {
  return rows * Math.min((tokens + 1) / 2, window);
}
