/** A chunk in a prompt, and the cost of loading it. */
export interface PlacedChunk {
  id: number;
  bytes: number;
}

/**
 * The order in which to answer questions: prompts that share chunks follow one another, and those that begin with the same chunks are
 * adjacent, since their KV can then stay in the session. Greedy: starting with the first question, the next one is always the one that
 * shares most with the previous one. `prompts[i]` holds question i's chunks in prompt order; returns the indices.
 */
export function orderBatch(prompts: readonly (readonly PlacedChunk[])[]): number[] {
  const left = new Set(prompts.keys());
  const order: number[] = [];
  let current = 0;
  while (left.size > 0) {
    left.delete(current);
    order.push(current);
    current = nearest(prompts, current, left);
  }
  return order;
}

/** Ids of the chunks that appear in at least two prompts. */
export function sharedChunks(prompts: readonly (readonly PlacedChunk[])[]): Set<number> {
  const once = new Set<number>();
  const shared = new Set<number>();
  for (const prompt of prompts)
    for (const id of new Set(prompt.map((chunk) => chunk.id))) (once.has(id) ? shared : once).add(id);
  return shared;
}

/** The remaining prompt nearest to `from`; on ties, the earliest. */
function nearest(
  prompts: readonly (readonly PlacedChunk[])[],
  from: number,
  left: ReadonlySet<number>,
): number {
  const here = prompts[from] ?? [];
  const ids = new Set(here.map(({ id }) => id));
  let best = { index: -1, prefix: -1, shared: -1 };
  for (const index of left) {
    const there = prompts[index] ?? [];
    const prefix = bytesOf(there.slice(0, commonPrefix(here, there)));
    const shared = bytesOf(there.filter(({ id }) => ids.has(id)));
    if (prefix > best.prefix || (prefix === best.prefix && shared > best.shared))
      best = { index, prefix, shared };
  }
  return best.index;
}

function commonPrefix(a: readonly PlacedChunk[], b: readonly PlacedChunk[]): number {
  let length = 0;
  while (length < a.length && a[length]?.id === b[length]?.id) length++;
  return length;
}

function bytesOf(chunks: readonly PlacedChunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}
