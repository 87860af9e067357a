/** [a, b, c, d, e, f] of ISO 32000-2, 8.3.3. */
export type Matrix = readonly [number, number, number, number, number, number];
/** [x0, y0, x1, y1], y upwards. */
export type Box = readonly [number, number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** First `inner`, then `outer`. */
export function multiply(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

export function pointOf([a, b, c, d, e, f]: Matrix, x: number, y: number): [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** The upright box around a box that a matrix moved. */
export function boxOf(matrix: Matrix, [x0, y0, x1, y1]: Box): Box {
  const corners = [
    pointOf(matrix, x0, y0),
    pointOf(matrix, x1, y0),
    pointOf(matrix, x0, y1),
    pointOf(matrix, x1, y1),
  ];
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** Whether boxes stay boxes: turned by 0, 90, 180 or 270 degrees. */
export function keepsBoxes([a, b, c, d]: Matrix): boolean {
  const small = 1e-3 * Math.hypot(a, b, c, d);
  return Math.max(Math.abs(b), Math.abs(c)) < small || Math.max(Math.abs(a), Math.abs(d)) < small;
}

export function intersect(a: Box, b: Box): Box {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
}
