/**
 * Spearman's rank correlation of two lists of equal length: Pearson's of their ranks, equal values sharing the mean of
 * theirs. -1 to 1; 0 when either list has fewer than two different values.
 */
export function rankCorrelation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new TypeError('both lists must have the same length');
  const [ranksA, ranksB] = [ranks(a), ranks(b)];
  const mean = (a.length + 1) / 2;
  let [both, squaresA, squaresB] = [0, 0, 0];
  for (const [i, rankA] of ranksA.entries()) {
    const [x, y] = [rankA - mean, (ranksB[i] ?? mean) - mean];
    both += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return squaresA > 0 && squaresB > 0 ? both / Math.sqrt(squaresA * squaresB) : 0;
}

function ranks(values: ArrayLike<number>): Float64Array {
  const order = Array.from({ length: values.length }, (_, i) => i).sort(
    (i, j) => at(values, i) - at(values, j),
  );
  const result = new Float64Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start + 1;
    while (end < order.length && at(values, order[end]) === at(values, order[start])) end++;
    const shared = (start + 1 + end) / 2; // ranks start + 1 to end
    for (const i of order.slice(start, end)) result[i] = shared;
    start = end;
  }
  return result;
}

function at(values: ArrayLike<number>, index: number | undefined): number {
  return values[index ?? -1] ?? Number.NaN;
}
