/**
 * KL(p ‖ q) in nats of the distributions given by two vectors of logits. 0 when they differ only by a constant. In double precision: the
 * terms nearly cancel. TypeError when the lengths differ.
 */
export function klDivergence(p: Float32Array, q: Float32Array): number {
  if (p.length !== q.length) throw new TypeError(`q must have ${p.length} logits, not ${q.length}`);
  const logZp = logSumExp(p);
  const logZq = logSumExp(q);
  let sum = 0;
  for (let i = 0; i < p.length; i++) {
    const logP = (p[i] ?? 0) - logZp;
    sum += Math.exp(logP) * (logP - ((q[i] ?? 0) - logZq));
  }
  return Math.max(0, sum); // rounding can yield slightly less than 0
}

/** Index of the largest; the first of equals. */
export function likeliest(logits: Float32Array): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if ((logits[i] ?? 0) > (logits[best] ?? 0)) best = i;
  return best;
}

/** The probability of the most likely token. */
export function topProbability(logits: Float32Array): number {
  return Math.exp((logits[likeliest(logits)] ?? 0) - logSumExp(logits));
}

/** The `count` most likely tokens in descending order, with their probabilities. */
export function mostLikely(logits: Float32Array, count: number): { token: number; probability: number }[] {
  const logZ = logSumExp(logits);
  return Array.from(logits.keys())
    .sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b)
    .slice(0, count)
    .map((token) => ({ token, probability: Math.exp((logits[token] ?? 0) - logZ) }));
}

/** F1 of the words shared by two texts, each counted as often as both contain it; case-insensitive. 1 when neither has any. */
export function wordF1(text: string, reference: string): number {
  const words = wordsOf(text);
  const wanted = wordsOf(reference);
  if (words.length === 0 && wanted.length === 0) return 1;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(word, count - 1);
  }
  return (2 * shared) / (words.length + wanted.length);
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'word' });

function wordsOf(text: string): string[] {
  return [...SEGMENTER.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );
}

function logSumExp(logits: Float32Array): number {
  let max = -Infinity;
  for (const value of logits) max = Math.max(max, value);
  let sum = 0;
  for (const value of logits) sum += Math.exp(value - max);
  return max + Math.log(sum);
}
