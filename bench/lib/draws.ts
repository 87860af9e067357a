export function exponential(mean: number, random: () => number): number {
  return -mean * Math.log(1 - random());
}

/** Draws ranks from 0 with a Zipf distribution; rank 0 is the most frequent. */
export function zipf(count: number, skew: number, random: () => number): () => number {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) sums.push((sum += rank ** -skew));
  return () => {
    const at = random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
