import { z } from 'zod';

/** What the rest of the program has to know of a strategy; how it selects is its file in native/engine/fusing/strategies/. */
interface Traits {
  /** Whether a share of the reusable tokens is recomputed, which people may set. */
  ratio: boolean;
  /** Whether another question would select other tokens of the same passages. */
  byQuestion: boolean;
}

/** Share of the reusable tokens that is recomputed when none is named (decision 0250). */
export const DEFAULT_RATIO = 0.15;

/** Every strategy; where only numbers are given, the first that takes them is meant. A new one is a line here. */
const TRAITS = {
  query: { ratio: true, byQuestion: true },
  deviation: { ratio: true, byQuestion: false },
  none: { ratio: false, byQuestion: false },
  full: { ratio: false, byQuestion: false },
} as const satisfies Record<string, Traits>;

export type StrategyName = keyof typeof TRAITS;
export const STRATEGY_NAMES = Object.keys(TRAITS) as [StrategyName, ...StrategyName[]];

export function isStrategyName(name: string): name is StrategyName {
  return Object.hasOwn(TRAITS, name);
}

/** Strategies of earlier versions: conversations, reports and settings that name one read as the strategy that replaced it. */
const RETIRED: unknown[] = ['union', 'chunk-head'];

function stored<Names extends z.ZodType>(names: Names) {
  return z.preprocess((name) => (RETIRED.includes(name) ? 'query' : name), names);
}

/**
 * How an answer's prompt is fused, as people choose it. The engine's own form, with check layers for the model at hand,
 * is made from it in src-main/fusion/.
 */
export const StrategyChoiceSchema = z.object({
  name: stored(z.enum(STRATEGY_NAMES)),
  /** Share of reusable tokens to recompute; means nothing for 'none' and 'full'. */
  ratio: z.number().min(0).max(1).default(DEFAULT_RATIO),
  /** Layers at which tokens are chosen by deviation, as calibration found them; absent: the first that can tell, layer 1. */
  checkLayers: z.array(z.int().min(0)).min(1).optional(),
  /** Layers whose attention tells what the question looks at, likewise; absent: the usual six. */
  questionLayers: z.array(z.int().min(0)).min(1).optional(),
});

/** What people can ask for: a strategy, or 'auto', which leaves strategy and ratio to the controller (src-main/fusion/planning/). */
export const STRATEGY_REQUESTS = ['auto', ...STRATEGY_NAMES] as const;

export const StrategyRequestSchema = z.object({
  name: stored(z.enum(STRATEGY_REQUESTS)),
  /** As above; means nothing for 'auto'. */
  ratio: z.number().min(0).max(1).default(DEFAULT_RATIO),
});

/** Whether a ratio means something for it. */
export function takesRatio(name: StrategyRequest['name']): boolean {
  return name !== 'auto' && TRAITS[name].ratio;
}

/** Whether another question may have other tokens recomputed. */
export function dependsOnQuestion(name: StrategyRequest['name']): boolean {
  return name === 'auto' || TRAITS[name].byQuestion;
}

/** Whether two are one way to fuse. */
export function sameStrategy(a: StrategyChoice, b: StrategyChoice): boolean {
  return a.name === b.name && a.ratio === b.ratio && sameLayers(a, b);
}

/** Whether two choose at the same layers. */
export function sameLayers(a: StrategyLayers, b: StrategyLayers): boolean {
  const told = ({ checkLayers = [], questionLayers = [] }: StrategyLayers): string =>
    `${checkLayers.join()};${questionLayers.join()}`;
  return told(a) === told(b);
}

/** The layers of a strategy that are not the usual ones. */
export function layersIn({ checkLayers, questionLayers }: StrategyLayers): StrategyLayers {
  return { ...(checkLayers && { checkLayers }), ...(questionLayers && { questionLayers }) };
}

export type StrategyRequest = z.infer<typeof StrategyRequestSchema>;
export type StrategyChoice = z.infer<typeof StrategyChoiceSchema>;
export type StrategyLayers = Pick<StrategyChoice, 'checkLayers' | 'questionLayers'>;
