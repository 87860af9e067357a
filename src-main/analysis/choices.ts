import type { Settings } from '../../src-shared/settings.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import { contextLimit } from '../answering/limits.ts';
import type { KvDtype, Sampling } from '../engine/engine.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import type { FusionModel } from '../fusion/model.ts';

/** How the prompts of an analysis are made. */
export interface Choices {
  strategy: StrategyOrAuto;
  /** Whether cached chunks are used at all. */
  blends: boolean;
  /** Tokens of an answer at most. */
  maxTokens: number;
  /** Tokens of prompt and answer at most. */
  contextTokens: number;
  dtype: KvDtype;
  systemPrompt: string;
  storeMisses: boolean;
  sampling: Partial<Sampling>;
}

/** What was asked for, and the settings' choice where nothing was. */
export function choicesOf(
  asked: { strategy?: StrategyRequest | undefined; maxTokens?: number | undefined },
  settings: Settings,
  model: FusionModel,
  planner: Planner,
): Choices {
  const { dtype, systemPrompt, storeMisses, temperature } = settings;
  const strategy = planner.resolve(model, asked.strategy ?? settings.strategy);
  return {
    strategy,
    blends: planner.blends(model, strategy),
    maxTokens: asked.maxTokens ?? settings.maxTokens,
    contextTokens: contextLimit(model, settings.contextTokens),
    ...{ dtype, systemPrompt, storeMisses },
    sampling: { temperature, seed: Math.floor(Math.random() * 2 ** 32) },
  };
}
