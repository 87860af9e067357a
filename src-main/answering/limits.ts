import type { ChatModel } from '../fusion/model.ts';

/** Tokens of prompt and answer at most: the user's limit, or the model's training length when that is lower. */
export function contextLimit({ info }: Pick<ChatModel, 'info'>, contextTokens: number): number {
  return info.contextTrain > 0 ? Math.min(info.contextTrain, contextTokens) : contextTokens;
}

export interface PromptBudget {
  /** Tokens of prompt and answer at most. */
  contextTokens: number;
  /** Tokens wanted for the answer. */
  answerTokens: number;
}

/** However long an answer may be, reserving this share of the context for it is enough. */
const LARGEST_ANSWER_SHARE = 1 / 4;

/** Tokens that a prompt leaves free for its answer. */
export function answerReserve({ contextTokens, answerTokens }: PromptBudget): number {
  return Math.min(answerTokens, Math.floor(contextTokens * LARGEST_ANSWER_SHARE));
}
