import type { Sharing, Step, StepSource } from '../../src-shared/contract/analysis.ts';

/**
 * What steps had in common. A use of a chunk counts as shared when its KV was in the session or in memory, unless it was there before the
 * first step.
 */
export function sharingOf(steps: readonly Pick<Step, 'sources'>[]): Sharing {
  const byChunk = new Map<string, StepSource[]>();
  for (const source of steps.flatMap(({ sources }) => sources)) {
    const key = `${source.path}\n${source.libraryId}\n${source.ordinal}`;
    byChunk.set(key, [...(byChunk.get(key) ?? []), source]);
  }
  const sharing = {
    uses: 0,
    chunks: byChunk.size,
    residentUses: 0,
    memoryUses: 0,
    bytesUsed: 0,
    bytesSaved: 0,
  };
  for (const uses of byChunk.values()) {
    const inSession = uses.filter(({ tier }) => tier === 'resident').length;
    const inMemory = uses.filter(({ tier }) => tier === 'ram' || tier === 'device').length;
    const shared = Math.min(inSession + inMemory, uses.length - 1);
    sharing.uses += uses.length;
    sharing.residentUses += Math.min(inSession, shared);
    sharing.memoryUses += Math.max(0, shared - inSession);
    const bytes = uses[0]?.bytes ?? 0;
    sharing.bytesUsed += bytes * uses.length;
    sharing.bytesSaved += bytes * shared;
  }
  return sharing;
}
