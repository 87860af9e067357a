import { z } from 'zod';

/**
 * How an answer's prompt is fused, as people choose it. The engine's own form, with check layers for the model at hand,
 * is made from it in src-main/fusion/.
 */
export const STRATEGY_NAMES = ['deviation', 'query', 'union', 'chunk-head', 'none', 'full'] as const;

export const StrategyChoiceSchema = z.object({
  name: z.enum(STRATEGY_NAMES),
  /** Share of reusable tokens to recompute; means nothing for 'none' and 'full'. */
  ratio: z.number().min(0).max(1).default(0.15),
  /** Layers at which tokens are chosen by deviation, as calibration found them; absent: the first that can tell, layer 1. */
  checkLayers: z.array(z.int().min(0)).min(1).optional(),
});

/** What people can ask for: a strategy, or 'auto', which leaves strategy and ratio to the controller (src-main/fusion/planning/). */
export const STRATEGY_REQUESTS = ['auto', ...STRATEGY_NAMES] as const;

export const StrategyRequestSchema = z.object({
  name: z.enum(STRATEGY_REQUESTS),
  /** As above; means nothing for 'auto'. */
  ratio: z.number().min(0).max(1).default(0.15),
});

/** Whether a ratio means something for it. */
export function takesRatio(name: StrategyRequest['name']): boolean {
  return name !== 'auto' && name !== 'none' && name !== 'full';
}

/** Whether two are one way to fuse. */
export function sameStrategy(a: StrategyChoice, b: StrategyChoice): boolean {
  return a.name === b.name && a.ratio === b.ratio && sameChecks(a, b);
}

/** Whether two choose at the same layers. */
export function sameChecks(a: StrategyChoice, b: StrategyChoice): boolean {
  return String(a.checkLayers ?? '') === String(b.checkLayers ?? '');
}

export type StrategyName = (typeof STRATEGY_NAMES)[number];
export type StrategyRequest = z.infer<typeof StrategyRequestSchema>;
export type StrategyChoice = z.infer<typeof StrategyChoiceSchema>;
