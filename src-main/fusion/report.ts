import type { PromptFigures } from '../../src-shared/figures.ts';
import type { Ttft } from '../../src-shared/ttft.ts';
import type {
  FusionCheck,
  FusionLayer,
  FusionReport,
  PromptPart as ReportPart,
} from '../../src-shared/fusion-report.ts';
import type { FusionPlan } from '../../src-shared/plan.ts';
import type { StrategyChoice } from '../../src-shared/strategy.ts';
import type { AppendReport, CheckReport, KvDtype, LayerReport } from '../engine/engine.ts';
import type { PassageSource, PromptPart } from './blender.ts';
import { rankCorrelation } from './rank-correlation.ts';
import { reusedTokens, type ChunkReuse } from './sources.ts';

/** An appended part and its outcome. */
interface ReportedPart extends PromptPart {
  /** For a chunk; absent: none of it was reused. */
  reuse?: ChunkReuse | undefined;
}

export interface ReportInput {
  answerId: string;
  question: string;
  /** The model's name and its layers. */
  model: string;
  layerCount: number;
  tokenTexts: string[];
  /** Bytes of stored KV per token. */
  tokenBytes: number;
  strategy: StrategyChoice;
  dtype: KvDtype;
  ttftMs: Ttft;
  fullPrefillMs: number | null;
  fullPrefillMeasured: boolean;
  figures: PromptFigures;
  appended: readonly ReportedPart[];
  append: AppendReport;
  /** The controller's decision and prediction. */
  plan?: FusionPlan | undefined;
  drafts?: FusionReport['drafts'];
}

/** The engine's report of an append in the form that the fusion panel shows; positions count from the conversation's first token. */
export function fusionReport(input: ReportInput): FusionReport {
  const { append, figures } = input;
  const { residentTokens } = figures;
  const checks = append.checks.map((check) => checkOf(check, residentTokens));
  return {
    version: 1,
    answerId: input.answerId,
    question: input.question,
    model: input.model,
    layerCount: input.layerCount,
    strategy: input.strategy,
    dtype: input.dtype,
    ttftMs: input.ttftMs,
    fullPrefillMs: input.fullPrefillMs,
    fullPrefillMeasured: input.fullPrefillMeasured,
    ...figures,
    bytesCrossed: append.bytesCrossed,
    stages: append.stages,
    parts: partsOf(input),
    tokensStart: residentTokens,
    tokens: input.tokenTexts,
    checks,
    selected: Array.from(append.selected, (position) => position + residentTokens),
    ...(append.question && { attention: attentionOf(append.question, residentTokens) }),
    rankCorrelation: append.checks.slice(1).map((check, i) => correlation(append.checks[i], check)),
    layers: append.layers.map(layerOf),
    ...(input.plan && { plan: input.plan }),
    ...(input.drafts && { drafts: input.drafts }),
  };
}

function partsOf(input: ReportInput): ReportPart[] {
  const parts: ReportPart[] = [];
  const { residentTokens } = input.figures;
  const selected = input.append.selected.map((position) => position + residentTokens);
  if (residentTokens > 0) parts.push({ kind: 'resident', start: 0, tokens: residentTokens, chunk: null });
  let start = residentTokens;
  for (const { kind, tokens, source, reuse = COMPUTED } of input.appended) {
    const reused = reusedTokens(reuse);
    const count = tokens.length;
    const chunk = kind === 'chunk' &&
      source && {
        ...shownSource(source),
        tier: reuse.tier,
        ...(reuse.tier === 'disk' && { folder: reuse.folder ?? '' }),
        ...(reuse.prefetched && { prefetched: true }),
        ...(reused > 0 && matchOf(reuse, reused, count, start)),
        bytes: reused * input.tokenBytes,
        recomputed: count - reused + countWithin(selected, start, start + count),
      };
    parts.push({ kind, start, tokens: count, chunk: chunk || null });
    start += count;
  }
  return parts;
}

function shownSource({
  document,
  documentId,
  title,
  ordinal,
}: PassageSource): Omit<PassageSource, 'libraryId'> {
  return { document, documentId, title, ordinal };
}

const COMPUTED: ChunkReuse = { tier: 'computed', runs: [] };

function matchOf({ runs }: ChunkReuse, reusedTokens: number, tokens: number, start: number) {
  if (reusedTokens === tokens) return { match: 'full' as const, reusedTokens };
  const placed = runs.map(({ begin, count }) => ({ start: start + begin, tokens: count }));
  return { match: 'partial' as const, reusedTokens, runs: placed };
}

function checkOf(
  { layer, ratio, candidates, deviation, selected }: CheckReport,
  offset: number,
): FusionCheck {
  const chosen = new Set(selected);
  let [all, covered] = [0, 0];
  for (const [i, value] of deviation.entries()) {
    all += value;
    if (chosen.has(candidates[i] ?? -1)) covered += value;
  }
  return {
    layer,
    ratio,
    positions: Array.from(candidates, (position) => position + offset),
    deviation: Array.from(deviation, rounded),
    selected: Array.from(selected, (position) => position + offset),
    massCovered: all > 0 ? covered / all : 0,
  };
}

function attentionOf(
  { layers, candidates, attention }: NonNullable<AppendReport['question']>,
  offset: number,
) {
  return {
    layers: [...layers],
    positions: Array.from(candidates, (position) => position + offset),
    weights: Array.from(attention, rounded),
  };
}

/** Over the tokens that both checks have in common. */
function correlation(before: CheckReport | undefined, after: CheckReport): number {
  const known = new Map(
    Array.from(before?.candidates ?? [], (position, i) => [position, before?.deviation[i]]),
  );
  const pairs = Array.from(
    after.candidates,
    (position, i) => [known.get(position), after.deviation[i]] as const,
  );
  const both = pairs.filter((pair): pair is readonly [number, number] =>
    pair.every((value) => value !== undefined),
  );
  return rankCorrelation(
    both.map(([a]) => a),
    both.map(([, b]) => b),
  );
}

function layerOf(layer: LayerReport): FusionLayer {
  const { rows, loadStart, loadEnd, loadBytes, placeMs, computeStart, computeEnd, recomputed, stored } =
    layer;
  const times = { loadStart, loadEnd, loadBytes, placeMs, computeStart, computeEnd };
  return { layer: layer.layer, rows, ...times, recomputed, stored };
}

/** How many of the ascending `positions` are in [start, end). */
function countWithin(positions: Int32Array, start: number, end: number): number {
  return positions.reduce((count, position) => count + (position >= start && position < end ? 1 : 0), 0);
}

/** Five digits are enough for display, in a third of the bytes. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
