import type { PredictedTtft } from '../../../src-shared/plan.ts';
import { predicted } from './fit.ts';
import { keysMs, layerMs, questionFeatures, type ComputeCosts, type TierCosts } from './costs.ts';
import { waitingFor, type LayerTimes } from './pipeline.ts';
import {
  isLoadedFrom,
  isStreamed,
  openedInTurn,
  type Layout,
  type Piece,
  type Rows,
  type Tier,
} from './work.ts';

export interface Costs {
  compute: ComputeCosts;
  tiers: Readonly<Record<Tier, TierCosts>>;
}

/** Milliseconds to the logits, by part; undefined while a layer, or a tier to load from, was never observed. */
export function predict(costs: Costs, layout: Layout, pieces: readonly Piece[]): PredictedTtft | undefined {
  const { compute } = costs;
  const steps = layout.layers();
  const load = loadMs(costs, pieces, layout.lastOfAll + 1);
  const streamed = streamedMs(costs, pieces);
  if (load === undefined || streamed === undefined || layerMs(compute, layout.freshIn(0)) === undefined)
    return undefined;
  const { placed, lastOfAll } = layout;
  const place = predicted(compute.place, [layout.reusable * placed, placed]) ?? 0;
  const question = predicted(compute.question, questionFeatures(compute, layout));
  const look = layout.questionLayers.length === 0 ? 0 : (question ?? questionFeatures(compute, layout)[0]);
  const looked = (layout.questionLayers.at(-1) ?? -1) + 1;
  const checks = steps.map(({ check }) => (check && keysMs(compute, check)) ?? 0);
  const select = predicted(compute.select, [layout.reusable * layout.checks, layout.checks]) ?? 0;
  const rows = steps.map(({ check, rows: r }, layer) =>
    layer === lastOfAll
      ? lastLayerMs(compute, r, layout.lastIn(layer), check === null)
      : (layerMs(compute, r) ?? 0),
  );
  const isPlaced = (layer: number): boolean => layer >= layout.firstLoad && layer <= lastOfAll;
  const times = steps.map((_, layer): LayerTimes => ({
    load: isPlaced(layer) ? load : 0,
    place: isPlaced(layer) ? place / placed : 0,
    look: layer < looked ? look / looked : 0,
    compute: (checks[layer] ?? 0) + (rows[layer] ?? 0) + (checks[layer] ? select / layout.checks : 0),
  }));
  const parts = {
    acquire: openMs(costs, pieces),
    load: load + streamed > 0 ? waitingFor(times, layout.firstLoad, streamed / (lastOfAll + 1)) : 0,
    place,
    check: look + sum(checks) + select,
    recompute: sum(rows) + (predicted(compute.rest, [1, layout.tokens]) ?? 0),
  };
  return { total: sum(Object.values(parts)), ...parts };
}

/** Keys and values of all rows that have none yet, and the layer for the last of them. */
function lastLayerMs(costs: ComputeCosts, rows: Rows, last: Rows, keys: boolean): number {
  const one = layerMs(costs, last) ?? 0;
  return rows.rows > 1 && keys ? one + (keysMs(costs, rows) ?? 0) : one;
}

/** One layer of all pieces that are not in memory: the mean size, where layers differ. */
function loadMs({ tiers }: Costs, pieces: readonly Piece[], layers: number): number | undefined {
  let ms = 0;
  for (const [tier, { files, bytes }] of byTier(pieces)) {
    if (!isLoadedFrom(tier) || isStreamed(tier)) continue;
    const known = predicted(tiers[tier]?.load, [bytes / layers, files]);
    if (known === undefined) return undefined;
    ms += known;
  }
  return ms;
}

/** Everything that arrives from other machines, from the first byte to the last. */
function streamedMs({ tiers }: Costs, pieces: readonly Piece[]): number | undefined {
  const streamed = [...byTier(pieces)].filter(([tier]) => isStreamed(tier));
  const each = streamed.map(([tier, { files, bytes }]) => predicted(tiers[tier]?.load, [bytes, files]));
  return each.reduce<number | undefined>(
    (ms, one) => (ms !== undefined && one !== undefined ? ms + one : undefined),
    0,
  );
}

function openMs({ tiers }: Costs, pieces: readonly Piece[]): number {
  const each = [...byTier(pieces)].map(
    ([tier, { files }]) => predicted(tiers[tier]?.open, [openedInTurn(tier, files)]) ?? 0,
  );
  return sum(each);
}

export function byTier(pieces: readonly Piece[]): Map<Tier, { files: number; bytes: number }> {
  const tiers = new Map<Tier, { files: number; bytes: number }>();
  for (const { tier, bytes } of pieces) {
    if (tier === null) continue;
    const known = tiers.get(tier) ?? { files: 0, bytes: 0 };
    tiers.set(tier, { files: known.files + 1, bytes: known.bytes + bytes });
  }
  return tiers;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
