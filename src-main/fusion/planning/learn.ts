import type { AppendReport } from '../../engine/engine.ts';
import {
  layerFeatures,
  layerMs,
  CostLearner,
  questionFeatures,
  type ComputeCosts,
  type TierCosts,
} from './costs.ts';
import type { Transfer } from '../../kvstore/store.ts';
import { median } from '../averages.ts';
import { byTier } from './predict.ts';
import {
  isLoadedFrom,
  isStreamed,
  openedInTurn,
  type Layout,
  type Piece,
  type Rows,
  type Tier,
} from './work.ts';

/** Learns computing costs from an append; earlier observations are weighted by `share`. */
export function learnAppend(
  known: ComputeCosts,
  layout: Layout,
  report: AppendReport,
  share: number,
): ComputeCosts {
  const { stages } = report;
  const learning = new CostLearner<ComputeCosts>(known, share);
  if (report.layers.length === 0) learnPass(learning, layout, report);
  else {
    learnLayers(learning, layout, report);
    learnKeys(learning, layout, report);
  }
  const { checks, reusable, placed } = layout;
  if (checks > 0) learning.learn('select', [reusable * checks, checks], stages.select);
  if (reusable > 0) learning.learn('place', [reusable * placed, placed], stages.place);
  if (layout.questionLayers.length > 0)
    learning.learn('question', questionFeatures(learning.costs, layout), stages.question);
  const { question, place, check, select, compute, loadWait } = stages;
  const rest = report.totalMs - (question + place + check + select + compute + loadWait);
  learning.learn('rest', [1, layout.tokens], rest);
  return learning.costs;
}

/** libllama reports the time of a pass, not of its layers, and computes more than the new tokens when its memory had to go back. */
function learnPass(
  learning: CostLearner<ComputeCosts>,
  layout: Layout,
  { tokens, processedTokens, stages }: AppendReport,
): void {
  const steps = layout.layers();
  if (processedTokens !== tokens) return;
  for (const { rows } of steps.slice(0, layout.lastOfAll))
    learning.learn('layer', layerFeatures(rows), stages.compute / steps.length);
}

/**
 * Layers with the same number of rows and the same visible tokens do the same work, so each counts with their median: an interruption
 * during one of them says nothing about the next prompt.
 */
function learnLayers(learning: CostLearner<ComputeCosts>, layout: Layout, { layers }: AppendReport): void {
  const steps = layout.layers();
  const alike = new Map<string, { rows: Rows; times: number[] }>();
  for (const { layer, computeStart, computeEnd } of layers.slice(0, layout.lastOfAll)) {
    const step = steps[layer];
    if (step?.check !== null) continue;
    const { rows } = step;
    const work = `${rows.rows} ${rows.pairs}`;
    const same = alike.get(work) ?? { rows, times: [] };
    same.times.push(computeEnd - computeStart);
    alike.set(work, same);
  }
  for (const { rows, times } of alike.values())
    for (const ms of times.fill(median(times))) learning.learn('layer', layerFeatures(rows), ms);
}

/** From checks, and from the last layer of all rows: it computes keys and values of all its rows, and itself for one. */
function learnKeys(
  learning: CostLearner<ComputeCosts>,
  layout: Layout,
  { stages, layers }: AppendReport,
): void {
  const steps = layout.layers();
  const checked = steps.flatMap(({ check }) => (check ? [check.rows] : []));
  if (checked.length > 0) {
    const rows = checked.reduce((sum, n) => sum + n, 0);
    learning.learn('keys', [rows, checked.length], stages.check);
  }
  const [step, last] = [steps[layout.lastOfAll], layers[layout.lastOfAll]];
  const one = layerMs(learning.costs, layout.lastIn(layout.lastOfAll));
  if (!step || !last || one === undefined || step.check || step.rows.rows <= 1) return;
  learning.learn('keys', [step.rows.rows, 1], last.computeEnd - last.computeStart - one);
}

/** Learns the costs of the tiers that an append used; when it loaded from two, nothing, since it does not report the time of each. */
export function learnTiers(
  known: Readonly<Record<Tier, TierCosts>>,
  pieces: readonly Piece[],
  { report, acquireMs, share }: { report: AppendReport; acquireMs: number; share: number },
): Record<Tier, TierCosts> {
  const used = [...byTier(pieces)];
  const loaded = used.filter(([tier]) => isLoadedFrom(tier));
  const learnt = { ...known };
  for (const [tier, { files }] of used) {
    const learning = new CostLearner<TierCosts>(known[tier] ?? {}, share);
    if (used.length === 1) learning.learn('open', [openedInTurn(tier, files)], acquireMs);
    const isTold = isLoadedFrom(tier) && !isStreamed(tier) && loaded.length === 1;
    const layers = isTold ? report.layers : [];
    for (const { loadStart, loadEnd, loadBytes } of layers)
      if (loadBytes > 0) learning.learn('load', [loadBytes, files], loadEnd - loadStart);
    learnt[tier] = learning.costs;
  }
  return learnt;
}

/** Learns a tier's costs from values that arrived. */
export function learnTransfer(
  known: Readonly<Record<Tier, TierCosts>>,
  tier: Tier,
  { values, bytes, ms, openMs }: Transfer,
  share: number,
): Record<Tier, TierCosts> {
  const learning = new CostLearner<TierCosts>(known[tier] ?? {}, share);
  learning.learn('load', [bytes, values], ms);
  if (openMs !== undefined) learning.learn('open', [1], openMs);
  return { ...known, [tier]: learning.costs };
}
