/** The difference between two logit vectors. */
interface Difference {
  /** Largest |a − b|, divided by the range (max − min) of b. */
  maxOfRange: number;
  /** L2 of a − b, divided by L2 of b. */
  relative: number;
}

export function compareLogits(a: Float32Array, b: Float32Array): Difference {
  if (a.length !== b.length) throw new TypeError(`logits differ in length: ${a.length} and ${b.length}`);
  let max = 0;
  let low = Infinity;
  let high = -Infinity;
  let square = 0;
  let norm = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? NaN;
    const y = b[i] ?? NaN;
    max = Math.max(max, Math.abs(x - y)); // keep a NaN: it must fail every bound
    low = Math.min(low, y);
    high = Math.max(high, y);
    square += (x - y) ** 2;
    norm += y ** 2;
  }
  return { maxOfRange: max / (high - low), relative: Math.sqrt(square / norm) };
}
