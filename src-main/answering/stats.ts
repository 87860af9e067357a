import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Offered, Prompt } from './prompt.ts';
import type { TurnResult } from './turn.ts';

/** A prompt and what became of it. */
interface MadeTurn {
  prompt: Prompt<Offered>;
  turn: TurnResult;
  /** The model's name. */
  name: string;
  model: FusionModel;
}

/** The numbers under an answer. */
export function answerStats({ prompt, turn, name, model }: MadeTurn, costs: CostModel): AnswerStats {
  const { report } = turn.blended;
  const chunkHits = { resident: 0, device: 0, ram: 0, disk: 0, shared: 0, partial: 0, computed: 0 };
  for (const { part } of prompt.cited) chunkHits[turn.tiers.get(part) ?? 'computed']++;
  return {
    ttftMs: turn.ttftMs,
    ...fullPrefillOf({ prompt, turn, model }, costs),
    tokensPerSecond: turn.tokensPerSecond,
    answerTokens: turn.answer.length,
    stop: turn.stop,
    promptTokens: prompt.tokens,
    residentTokens: turn.residentTokens,
    prefixTokens: turn.prefixTokens,
    restoredTokens: turn.restoredTokens,
    reusedTokens: report.reusableTokens,
    recomputedTokens: report.recomputedTokens,
    computedTokens: report.computedTokens - report.recomputedTokens,
    chunkHits,
    bytesLoaded: report.bytesLoaded,
    strategy: turn.plan.strategy,
    model: name,
  };
}

/** What the same prompt's full prefill takes up to the logits; one that was computed so, with nothing in memory before, is its own measurement. */
function fullPrefillOf(
  { prompt, turn, model }: Pick<MadeTurn, 'prompt' | 'turn' | 'model'>,
  costs: CostModel,
): Pick<AnswerStats, 'fullPrefillMs' | 'fullPrefillMeasured'> {
  if (turn.decision.strategy.kind === 'full' && turn.residentTokens === 0)
    return { fullPrefillMs: turn.blended.report.totalMs, fullPrefillMeasured: true };
  return { fullPrefillMs: costs.fullPrefill(model.info, prompt.tokens), fullPrefillMeasured: false };
}
