import { z } from 'zod';

/**
 * Properties of a strategy that the rest of the program needs; the selection itself is in native/engine/fusing/strategies/.
 */
interface Traits {
  /** Whether it recomputes a share of the reusable tokens that the user can set. */
  ratio: boolean;
  /** Whether the selection depends on the question. */
  byQuestion: boolean;
}

/** Default share of reusable tokens to recompute (decision 0250). */
export const DEFAULT_RATIO = 0.15;

/** Every strategy; if only numbers are given, the first one that accepts them is used. Add new ones here. */
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

/**
 * Strategies of earlier versions: conversations, reports and settings with their names are read as the strategy that
 * replaced them.
 */
const RETIRED: unknown[] = ['union', 'chunk-head'];

function stored<Names extends z.ZodType>(names: Names) {
  return z.preprocess((name) => (RETIRED.includes(name) ? 'query' : name), names);
}

/**
 * The blending strategy of an answer's prompt, as chosen by the user. src-main/fusion/ converts it to the engine's
 * format, with check layers for the model.
 */
export const StrategyChoiceSchema = z.object({
  name: stored(z.enum(STRATEGY_NAMES)),
  /** Share of reusable tokens to recompute; ignored for 'none' and 'full'. */
  ratio: z.number().min(0).max(1).default(DEFAULT_RATIO),
  /** Layers at which tokens are selected by deviation, from calibration; absent: the first usable one, layer 1. */
  checkLayers: z.array(z.int().min(0)).min(1).optional(),
  /** Layers whose attention determines the question's focus, from calibration; absent: the usual six. */
  questionLayers: z.array(z.int().min(0)).min(1).optional(),
});

/**
 * Selectable values: a strategy, or 'auto', which leaves strategy and ratio to the controller
 * (src-main/fusion/planning/).
 */
export const STRATEGY_REQUESTS = ['auto', ...STRATEGY_NAMES] as const;

export const StrategyRequestSchema = z.object({
  name: stored(z.enum(STRATEGY_REQUESTS)),
  /** As above; ignored for 'auto'. */
  ratio: z.number().min(0).max(1).default(DEFAULT_RATIO),
  /** One ratio for each check layer, falling, in place of `ratio`. */
  ratios: z.array(z.number()).min(1).optional(),
  /** In place of a ratio: the smallest that covers this share of all deviation or attention, and its bounds. */
  cover: z.object({ cover: z.number(), least: z.number(), most: z.number() }).optional(),
  checkLayers: StrategyChoiceSchema.shape.checkLayers,
  questionLayers: StrategyChoiceSchema.shape.questionLayers,
  /** The tensors that check layers compare; absent: v. */
  deviationOf: z.enum(['v', 'k', 'kv']).optional(),
});

/** The same, in a new request: the names of earlier versions are refused. */
export const NewStrategyRequestSchema = StrategyRequestSchema.extend({
  name: z.enum(STRATEGY_REQUESTS, {
    error: ({ input }) => (typeof input === 'string' ? `There is no strategy "${input}"` : undefined),
  }),
});

/** Whether it uses a ratio. */
export function takesRatio(name: StrategyRequest['name']): boolean {
  return name !== 'auto' && TRAITS[name].ratio;
}

/** Whether its selection depends on the question. */
export function dependsOnQuestion(name: StrategyRequest['name']): boolean {
  return name === 'auto' || TRAITS[name].byQuestion;
}

/** Whether two strategies are equal. */
export function sameStrategy(a: StrategyChoice, b: StrategyChoice): boolean {
  return a.name === b.name && a.ratio === b.ratio && sameLayers(a, b);
}

/** Whether two have the same layers. */
export function sameLayers(a: StrategyLayers, b: StrategyLayers): boolean {
  const told = ({ checkLayers = [], questionLayers = [] }: StrategyLayers): string =>
    `${checkLayers.join()};${questionLayers.join()}`;
  return told(a) === told(b);
}

export type StrategyRequest = z.infer<typeof StrategyRequestSchema>;
export type StrategyChoice = z.infer<typeof StrategyChoiceSchema>;
export type StrategyLayers = Pick<StrategyChoice, 'checkLayers' | 'questionLayers'>;
