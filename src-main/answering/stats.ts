import type { PromptFigures } from '../../src-shared/figures.ts';
import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import { isRemote, type FusionModel } from '../fusion/model.ts';
import { figuresOnServer } from './figures.ts';
import type { Offered, Prompt } from './prompt.ts';
import type { TurnResult } from './turn.ts';

/** A prompt and its result. */
interface MadeTurn {
  prompt: Prompt<Offered>;
  turn: TurnResult;
  /** The model's name. */
  name: string;
  model: FusionModel;
}

/** The numbers under an answer. */
export function answerStats({ prompt, turn, name, model }: MadeTurn, costs: CostModel): AnswerStats {
  const chunkHits = { resident: 0, device: 0, ram: 0, disk: 0, shared: 0, partial: 0, computed: 0 };
  const counts = {
    ttftMs: turn.ttftMs,
    tokensPerSecond: turn.tokensPerSecond,
    stop: turn.stop,
    strategy: turn.plan.strategy,
    model: name,
  };
  if (isRemote(model)) return { ...counts, ...NOT_MEASURED, chunkHits, ...countedThere({ prompt, turn }) };

  for (const { part } of prompt.cited) chunkHits[turn.tiers.get(part) ?? 'computed']++;
  return {
    ...counts,
    ...fullPrefillOf({ prompt, turn, model }, costs),
    answerTokens: turn.answer.length,
    ...turn.figures,
    chunkHits,
  };
}

const NOT_MEASURED = { fullPrefillMs: null, fullPrefillMeasured: false };

/** The server's counts; without them, the sizes that prompts are budgeted by. */
function countedThere({
  prompt,
  turn,
}: Pick<MadeTurn, 'prompt' | 'turn'>): Pick<AnswerStats, 'server' | 'answerTokens'> & PromptFigures {
  const { promptTokens = null, cachedTokens = null, answerTokens = null } = turn.usage ?? {};
  return {
    server: { promptTokens, cachedTokens, answerTokens },
    ...figuresOnServer(promptTokens ?? prompt.tokens),
    answerTokens: answerTokens ?? turn.answer.length,
  };
}

/** The time of the same prompt's full prefill up to the logits; a prompt prefilled in full into an empty session is its own measurement. */
function fullPrefillOf(
  { prompt, turn, model }: Pick<MadeTurn, 'prompt' | 'turn' | 'model'>,
  costs: CostModel,
): Pick<AnswerStats, 'fullPrefillMs' | 'fullPrefillMeasured'> {
  if (turn.decision.strategy.kind === 'full' && turn.figures.residentTokens === 0)
    return { fullPrefillMs: turn.blended.report.totalMs, fullPrefillMeasured: true };
  return { fullPrefillMs: costs.fullPrefill(model.info, prompt.tokens), fullPrefillMeasured: false };
}
