import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { PromptFigures } from '../../src-shared/figures.ts';
import type { Ttft } from '../../src-shared/ttft.ts';
import type { AppendReport, GenerateResult } from '../engine/engine.ts';
import type { BlendResult } from '../fusion/blender.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import type { LocalTurn, Turn } from './backends/backend.ts';
import type { PartTiers } from './passages.ts';
import type { SessionTokenCounts } from './session-tokens.ts';

/** The sources of a prompt's tokens: shown in the panel, chat, API, command line, watching and benches. */
export function promptFigures(
  { tokens, reusableTokens, recomputedTokens, bytesLoaded }: AppendReport,
  { residentTokens, prefixTokens, restoredTokens }: SessionTokenCounts,
): PromptFigures {
  return {
    promptTokens: residentTokens + tokens,
    residentTokens,
    prefixTokens,
    restoredTokens,
    reusedTokens: reusableTokens,
    recomputedTokens,
    computedTokens: tokens - reusableTokens,
    bytesLoaded,
  };
}

/** For a prompt sent to a server, which reports less. */
export function figuresOnServer(promptTokens: number): PromptFigures {
  return {
    promptTokens,
    residentTokens: 0,
    prefixTokens: 0,
    restoredTokens: 0,
    reusedTokens: 0,
    recomputedTokens: 0,
    computedTokens: 0,
    bytesLoaded: 0,
  };
}

/**
 * Tokens of a prompt that were not computed for it: its known prefix, and those chunk tokens that were reused as stored. Chunks of the
 * parts in `storedNow` were computed for this very prompt.
 */
export function cachedTokens(
  { figures, appended, blended }: Pick<LocalTurn, 'appended' | 'blended'> & { figures: PromptFigures },
  storedNow: ReadonlySet<number>,
): number {
  const recomputed = new Set(blended.report.selected);
  const reuse = blended.reuse.values();
  let cached = figures.residentTokens;
  let offset = 0;
  for (const { kind, tokens, index } of appended) {
    const reused = kind === 'chunk' ? reuse.next().value : undefined;
    const runs = reused?.tier === 'computed' || storedNow.has(index) ? [] : (reused?.runs ?? []);
    for (const { begin, count } of runs)
      for (let at = begin; at < begin + count; at++) if (!recomputed.has(offset + at)) cached++;
    offset += tokens.length;
  }
  return cached;
}

/** The parts of the time to first token; the remainder of the total is `other`. */
export function ttftOf(
  { report: { stages, totalMs }, acquireMs }: BlendResult,
  { total, planMs, ...times }: Omit<Ttft, 'acquire' | BlendStage | 'other'> & { planMs: number },
): Ttft {
  const blending: Pick<Ttft, BlendStage> = {
    load: stages.loadWait,
    place: stages.place,
    check: stages.question + stages.check + stages.select,
    recompute: stages.compute + stages.head,
  };
  // Rows gathered, layers started: what an append does between its stages.
  blending.recompute += Math.max(0, totalMs - sum(Object.values(blending)));
  const parts = { ...times, acquire: planMs + acquireMs, ...blending };
  return { total, ...parts, other: Math.max(0, total - sum(Object.values(parts))) };
}

type BlendStage = 'load' | 'place' | 'check' | 'recompute';

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

interface LocalResult {
  figures: PromptFigures;
  tiers: PartTiers;
  ttftMs: Ttft;
  result: Pick<GenerateResult, 'tokens' | 'ms' | 'drafted' | 'accepted'>;
  costs: CostModel;
}

/** The numbers under an answer that was made here. */
export function localStats(
  turn: LocalTurn,
  { figures, tiers, ttftMs, result, costs }: LocalResult,
): Turn['stats'] {
  const chunkHits = { ...NO_HITS };
  for (const { part } of turn.prompt.cited) chunkHits[tiers.get(part) ?? 'computed']++;
  return {
    ttftMs,
    ...fullPrefillOf(turn, figures, costs),
    tokensPerSecond: result.ms > 0 ? (result.tokens.length * 1000) / result.ms : 0,
    answerTokens: result.tokens.length,
    ...(result.drafted > 0 && { drafts: { drafted: result.drafted, accepted: result.accepted } }),
    ...figures,
    chunkHits,
    strategy: turn.plan.strategy,
  };
}

/** Passages by tier. */
export const NO_HITS: AnswerStats['chunkHits'] = {
  resident: 0,
  device: 0,
  ram: 0,
  disk: 0,
  shared: 0,
  partial: 0,
  computed: 0,
};

/** The time of the same prompt's full prefill up to the logits; a prompt prefilled in full into an empty session is its own measurement. */
function fullPrefillOf(
  { model, decision, blended }: LocalTurn,
  figures: PromptFigures,
  costs: CostModel,
): Pick<AnswerStats, 'fullPrefillMs' | 'fullPrefillMeasured'> {
  if (decision.strategy.kind === 'full' && figures.residentTokens === 0)
    return { fullPrefillMs: blended.report.totalMs, fullPrefillMeasured: true };
  return { fullPrefillMs: costs.fullPrefill(model.info, figures.promptTokens), fullPrefillMeasured: false };
}
