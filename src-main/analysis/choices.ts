import type { Settings } from '../../src-shared/settings.ts';
import type { StrategyWish } from '../../src-shared/strategy.ts';
import { contextLimit } from '../answering/limits.ts';
import type { KvDtype, Sampling } from '../engine/engine.ts';
import type { Planner, Wish } from '../fusion/planning/planner.ts';
import type { FusionModel } from '../fusion/model.ts';

/** How the prompts of an analysis are made. */
export interface Choices {
  wish: Wish;
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
  asked: { strategy?: StrategyWish | undefined; maxTokens?: number | undefined },
  settings: Settings,
  model: FusionModel,
  planner: Planner,
): Choices {
  const { dtype, systemPrompt, storeMisses, temperature } = settings;
  const wish = planner.wish(model, asked.strategy ?? settings.strategy);
  return {
    wish,
    blends: planner.blends(model, wish),
    maxTokens: asked.maxTokens ?? settings.maxTokens,
    contextTokens: contextLimit(model, settings.contextTokens),
    ...{ dtype, systemPrompt, storeMisses },
    sampling: { temperature, seed: Math.floor(Math.random() * 2 ** 32) },
  };
}
