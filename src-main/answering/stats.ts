import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { PromptFigures } from '../../src-shared/figures.ts';
import type { Ttft } from '../../src-shared/ttft.ts';
import type { GenerateResult } from '../engine/engine.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import type { LocalTurn, Turn } from './backends/backend.ts';
import type { PartTiers } from './passages.ts';

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
