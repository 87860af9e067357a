import type { FusionModel } from '../fusion/model.ts';

/** Tokens of prompt and answer at most: what the user allows, or what the model was trained for when that is less. */
export function contextLimit({ info }: Pick<FusionModel, 'info'>, contextTokens: number): number {
  return info.contextTrain > 0 ? Math.min(info.contextTrain, contextTokens) : contextTokens;
}
