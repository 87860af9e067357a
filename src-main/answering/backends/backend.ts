import type { Notice } from '../../../src-shared/answer.ts';
import type { AnswerStats, Citation, CitedSentence } from '../../../src-shared/contract/chat.ts';
import type { PromptFigures } from '../../../src-shared/figures.ts';
import type { FusionPlan } from '../../../src-shared/plan.ts';
import type { GenerateResult, Progress } from '../../engine/engine.ts';
import type { ChunkCache, FusionModel } from '../../fusion/model.ts';
import type { BlendResult, PromptPart } from '../../fusion/blender.ts';
import type { Decision, Planner } from '../../fusion/planning/planner.ts';
import type { StoredPrefixes } from '../../fusion/stored-prefixes.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Ask } from '../ask.ts';
import type { AnswerChoices } from '../choices.ts';
import type { MissWriter } from '../miss-writer.ts';
import type { PartTiers } from '../passages.ts';
import type { Prompt, PromptRequest } from '../prompt.ts';
import type { AnswerDelta } from '../thoughts.ts';
import type { ToolCall, ToolCallDelta } from '../tools.ts';
import type { TokenPrompt } from './token-prompt.ts';

/** What happens while an answer is made, in this order; notices and progress come at any time before the text. */
export type AnswerEvent =
  | { kind: 'notice'; notice: Notice }
  /** What was written before, exactly, of an answer that is continued. */
  | { kind: 'begun'; written: AnswerDelta }
  /** The source of each passage's KV, before the prompt is processed, and again if damaged files change it. */
  | { kind: 'placed'; citations: Citation[]; prompt: Prompt }
  | { kind: 'progress'; progress: Progress }
  /** The prompt has been processed here: where its tokens came from. */
  | { kind: 'prompt'; usage: PromptUsage }
  /** A sampled token, before its text; its probabilities if they were asked for. */
  | { kind: 'token'; logprobs: TokenLogprobs | undefined }
  /** More thinking text before the answer, and the number of thinking tokens so far. */
  | { kind: 'thought'; text: string; tokens: number }
  /** More text of the answer, and how many tokens are not part of it: thoughts and the marks around them. */
  | { kind: 'text'; text: string; tokensBefore: number }
  /** More of a call of a tool; no text follows it. */
  | { kind: 'call'; call: ToolCallDelta }
  /** A sentence of that text has ended: what it rests on. Only in conversations. */
  | { kind: 'sentence'; sentence: CitedSentence };

interface Logprob {
  token: number;
  text: string;
  logprob: number;
}

/** A token of an answer with the most likely ones at its position. From the model's unmodified distribution, before any sampling filter. */
export interface TokenLogprobs extends Logprob {
  top: Logprob[];
}

/** Tokens of a prompt, by source. */
export interface PromptUsage {
  promptTokens: number;
  /** Of these, those that were not computed for this request: known prefixes, and tokens of chunks that were reused as stored. */
  cachedTokens: number;
  /** Of the prompt's tokens, those that were encoded and stored for this request, to be reused by the next. */
  storedTokens: number;
}

/** A prompt processed, and its answer. */
export interface Turn {
  thought: string;
  text: string;
  /** 'aborted' when it was stopped while being written, 'context' when the context is full, 'repetition' when it repeats itself. */
  stop: GenerateResult['stop'] | 'repetition';
  tiers: PartTiers;
  /** Told while the prompt was processed. */
  notices: Notice[];
  figures: PromptFigures;
  stats: Omit<AnswerStats, 'model' | 'stop' | 'unsupported' | 'sentences' | 'documents'>;
  /** `answerTokens`: as counted by a server. */
  usage: PromptUsage & { answerTokens?: number };
  /** The sampled tokens, thoughts included, without the begun answer; empty for a model on a server. */
  answer: Int32Array;
  /** How many tokens from the beginning, that of a begun answer included, are thoughts and the marks around them. */
  tokensBefore: number;
  /** How the prompt was processed, by a model that runs here. */
  local?: LocalTurn | undefined;
}

/** How a model that runs here processed a prompt. */
export interface LocalTurn {
  model: FusionModel;
  prompt: TokenPrompt;
  /** The parts appended after the resident tokens, each with its index in the prompt. */
  appended: (PromptPart & { index: number })[];
  decision: Decision;
  blended: BlendResult;
  /** The decision, the prediction, and the result. */
  plan: FusionPlan;
}

/** What local models answer with. */
export interface AnswerParts {
  store: ChunkCache;
  planner: Planner;
  /** Prompt prefixes that survive a restart; absent: none are read or stored. */
  prefixes?: StoredPrefixes | undefined;
  /** Logs a line about each answer. */
  log?: (Pick<Logger, 'debug'> & Partial<Pick<Logger, 'warn'>>) | undefined;
  /** Stores passages that an answer had to compute; absent: they are a miss again next time. */
  misses?: MissWriter | undefined;
}

/** What processing a prompt would take. */
export interface Forecast {
  /** Tokens whose KV is in the session or stored. */
  cachedTokens: number;
  /** Milliseconds to the logits, and those of a full prefill; null while too little is known. */
  ms: number | null;
  fullMs: number | null;
}

/** An answer that called tools, and what they returned. */
export interface ToolStep {
  turn: Turn;
  calls: readonly ToolCall[];
  /** One for each of the calls. */
  results: readonly string[];
}

/** A way to make answers with a model. */
export interface Backend<P extends Prompt = Prompt> {
  /** Whether an answer can be held to a grammar. */
  readonly takesGrammar: boolean;
  /** QUESTION_TOO_LONG for a conversation, else CONTEXT_OVERFLOW; BAD_ARGUMENT for what the model does not support. */
  layOut(request: PromptRequest): P;
  /**
   * Makes the answer to a prompt. Call within the gate, which keeps the model loaded. ABORTED when stopped before the first token, OUT_OF_MEMORY,
   * ENGINE_FAILED, REMOTE_*.
   */
  turn(ask: Ask, prompt: P, parts: AnswerParts): AsyncGenerator<AnswerEvent, Turn, void>;
  /** A prompt followed by its answer and the results of the calls. BAD_ARGUMENT where the template cannot show them. */
  followUp(prompt: P, step: ToolStep, ask: Ask): P;
  /** What processing a prompt would take after the tokens that `past` counts of it; undefined for a server, which does not say. */
  foresee(
    prompt: P,
    how: { choices: AnswerChoices; planner: Planner; past?: (parts: readonly PromptPart[]) => number },
  ): Promise<Forecast | undefined>;
  textsOf(prompt: P): string[];
  /** The token ids of a prompt, with its BOS or without. BAD_ARGUMENT where the tokenizer is unknown. */
  tokensOf(prompt: P, bos: boolean): number[];
  /** CONTEXT_OVERFLOW for texts that are far too long, without tokenising all of them. */
  requireFits(texts: readonly string[], contextTokens: number): Promise<void>;
}
