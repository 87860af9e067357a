import type { FoundModel } from '../../../../src-shared/contract/found-models.ts';

const FIT = { fits: 0, tight: 1, 'too-large': 2 } as const;
const ROLE = { chat: 0, embedding: 1, reranker: 2 } as const;

/**
 * Sort key, lowest first: models that run here, chat models, blendable models, models that fit, then larger models,
 * which answer better.
 */
export function rankOf({ header }: FoundModel): number {
  if (!header) return Number.MAX_VALUE;
  const { role, obstacle, unsupportedReason, fit, parameterCount } = header;
  const steps = [Number(unsupportedReason !== ''), ROLE[role], FIT[fit.verdict], Number(obstacle !== null)];
  const smallness = 64 - Math.min(63, Math.log2(Math.max(1, parameterCount)));
  return steps.reduce((rank, step) => rank * 4 + step, 0) * 64 + smallness;
}
