import type { Settings } from '../../src-shared/settings.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import type { KvDtype, Sampling } from '../engine/engine.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { contextLimit } from './limits.ts';

/** How an answer is made. */
export interface AnswerChoices {
  strategy: StrategyOrAuto;
  /** Whether cached chunks are used at all. */
  blends: boolean;
  /** Chunks in the prompt at most. */
  topK: number;
  /** Tokens of the answer at most. */
  maxTokens: number;
  /** Tokens of prompt and answer at most. */
  contextTokens: number;
  dtype: KvDtype;
  systemPrompt: string;
  storeMisses: boolean;
  sampling: Partial<Sampling>;
}

/** What was asked for; the settings' choice where nothing was. */
interface AskedChoices {
  strategy?: StrategyRequest | undefined;
  topK?: number | undefined;
  maxTokens?: number | undefined;
  temperature?: number | undefined;
}

export function choicesOf(
  asked: AskedChoices,
  settings: Settings,
  model: FusionModel,
  planner: Planner,
): AnswerChoices {
  const { dtype, systemPrompt, storeMisses } = settings;
  const strategy = planner.resolve(model, asked.strategy ?? settings.strategy);
  const temperature = asked.temperature ?? settings.temperature;
  return {
    strategy,
    dtype,
    systemPrompt,
    storeMisses,
    blends: planner.blends(model, strategy),
    topK: asked.topK ?? settings.topK,
    maxTokens: asked.maxTokens ?? settings.maxTokens,
    contextTokens: contextLimit(model, settings.contextTokens),
    sampling: { temperature, seed: Math.floor(Math.random() * 2 ** 32) },
  };
}
