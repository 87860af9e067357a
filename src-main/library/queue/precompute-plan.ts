import type { BudgetProposal } from '../../../src-shared/contract/cache.ts';
import type { PrecomputePlan } from '../../../src-shared/contract/libraries.ts';
import { KV_DTYPES } from '../../../src-shared/kv-dtype.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ChunkCache, FusionModel } from '../../fusion/model.ts';
import type { CostModel } from '../../fusion/planning/cost-model.ts';
import { meanPass } from './leads.ts';
import { Meter } from './meter.ts';
import { targetOf, type ChunkModel } from './targets.ts';
import { systemClock } from '../../platform/clock.ts';
import type { KvDtype } from '../../engine/engine.ts';

export interface PlanSources {
  catalogue: Catalogue;
  store: Pick<ChunkCache, 'stats'>;
  costs?: CostModel | undefined;
  /** A disk budget while nobody has set one. */
  proposal?: (() => Promise<BudgetProposal | null>) | undefined;
}

/** What is left to compute for a model: of one library, or of all. null: its passages cannot be blended. */
export async function precomputePlan(
  active: ChunkModel,
  dtype: KvDtype,
  { catalogue, store, costs, proposal }: PlanSources,
  libraryId?: number,
): Promise<PrecomputePlan | null> {
  const { model, chunkTokens } = active;
  if (!model.blends) return null;
  const target = targetOf(active, dtype);
  const meter = new Meter(systemClock);
  meter.learn(catalogue.documents.cutSizes());
  const uncut = meter.estimate(catalogue.documents.unprepared(libraryId));
  const tokens = uncut + Math.round(catalogue.documents.uncached(target, libraryId));
  const bytes = Object.fromEntries(
    KV_DTYPES.map((each) => [each, tokens * model.bytesPerToken(each)]),
  ) as PrecomputePlan['bytes'];
  const needed = bytes[dtype];
  // What other models computed leaves first.
  const own = catalogue.chunkTable.cachedBytes(target.fingerprint, chunkTokens);
  const shareOf = (budget: number): number =>
    needed > 0 ? Math.min(1, Math.max(0, budget - own) / needed) : 1;
  const budgetShare = shareOf(store.stats().diskBudgetBytes);
  const proposed = await proposal?.();
  const bytesProposed = proposed && 'bytes' in proposed ? proposed.bytes : 0;
  const msPerToken = predictedMsPerToken(active as ChunkModel & { model: FusionModel }, costs);
  return {
    tokens,
    dtype,
    bytes,
    seconds: msPerToken === null ? null : (tokens * msPerToken) / 1000,
    budgetShare,
    proposal:
      shareOf(bytesProposed) > budgetShare ? { bytes: bytesProposed, share: shareOf(bytesProposed) } : null,
  };
}

/** Milliseconds to encode a token of a long document; null until the model was measured on this machine. */
export function predictedMsPerToken(
  { model, chunkTokens }: Pick<ChunkModel, 'chunkTokens'> & { model: Pick<FusionModel, 'info'> },
  costs: CostModel | undefined,
): number | null {
  const pass = meanPass(chunkTokens);
  const ms = costs?.fullPrefill(model.info, pass.lead + pass.tokens) ?? null;
  return ms === null ? null : ms / pass.tokens;
}
