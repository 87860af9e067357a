import type { Policy } from './policies.ts';
import type { TraceRequest } from './trace.ts';

/** For every block of every request, the number of the next request that uses it. */
export function nextUses(trace: readonly TraceRequest[]): Float64Array[] {
  const next = new Map<number, number>();
  const uses: Float64Array[] = [];
  for (let i = trace.length - 1; i >= 0; i--) {
    const blocks = trace[i]?.blocks ?? [];
    uses[i] = Float64Array.from(blocks, (block) => next.get(block) ?? Infinity);
    for (const block of blocks) next.set(block, i);
  }
  return uses;
}

/** How many blocks of a request the cache serves. */
type Served = (blocks: readonly number[], policy: Policy) => number;

/** As in prefix caching: a block is of use only when all before it are there. */
export const asPrefix: Served = (blocks, policy) => {
  const miss = blocks.findIndex((block) => !policy.has(block));
  return miss < 0 ? blocks.length : miss;
};

/** As in blending: each chunk by itself. */
export const asChunks: Served = (blocks, policy) => blocks.filter((block) => policy.has(block)).length;

/** Share of blocks asked for that are found in a cache. */
export function replay(
  trace: readonly TraceRequest[],
  uses: readonly Float64Array[],
  policy: Policy,
  served: Served = asPrefix,
): number {
  let hits = 0;
  let total = 0;
  for (const [i, request] of trace.entries()) {
    const { blocks, stored } = request;
    if (!stored) {
      total += blocks.length;
      hits += served(blocks, policy);
    }
    policy.use(request, uses[i] ?? new Float64Array());
  }
  return hits / total;
}
