import { KvasirError } from '../../src-shared/errors.ts';
import type { ModelInfo } from '../engine/engine.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { promptFrame, type PromptFrame } from './template.ts';

/** A chunk offered for the prompt; `score` decides what is left out when not all fit. */
export interface OfferedChunk {
  tokens: Int32Array;
  score: number;
}

export interface Prompt<C extends OfferedChunk> {
  parts: PromptPart[];
  tokens: number;
  /** The chunks that are in, in prompt order, and those that did not fit. */
  chunks: C[];
  leftOut: C[];
}

export interface PromptBudget {
  /** Tokens of prompt and answer at most. */
  contextTokens: number;
  /** Tokens wanted for the answer. */
  answerTokens: number;
}

/** However long an answer may be, this share of the context is enough to keep free for it. */
const LARGEST_ANSWER_SHARE = 1 / 4;

/** Turns questions and chunks into token ids for one model, by its chat template. */
export class PromptAssembler {
  readonly frame: PromptFrame;
  readonly #model: Pick<FusionModel, 'tokenize' | 'info'>;
  readonly #before: Int32Array;
  readonly #after: Int32Array;

  constructor(model: Pick<FusionModel, 'tokenize' | 'info'>, systemPrompt = '') {
    this.#model = model;
    this.frame = promptFrame(model.info, systemPrompt);
    // Only what the template says may become control tokens. A plain frame has none, and may carry the user's own text.
    const special = this.frame.plainBecause === undefined;
    this.#before = withOneBos(tokens(model, this.frame.before, special), model.info);
    this.#after = tokens(model, this.frame.after, special);
  }

  /**
   * Prefix, chunks in the order given, question, suffix. When they exceed the context, the chunks of lowest score are
   * left out. QUESTION_TOO_LONG when the question alone does not fit.
   */
  assemble<C extends OfferedChunk>(question: string, chunks: readonly C[], budget: PromptBudget): Prompt<C> {
    const ask = tokens(this.#model, this.frame.between + question, false);
    const reserve = Math.min(budget.answerTokens, Math.floor(budget.contextTokens * LARGEST_ANSWER_SHARE));
    const fixed = this.#before.length + ask.length + this.#after.length;
    const room = budget.contextTokens - reserve - fixed;
    if (room < 0) {
      const message = `The question has ${fixed} tokens, but the context holds ${budget.contextTokens}, of which ${reserve} are kept for the answer.`;
      throw new KvasirError(
        'QUESTION_TOO_LONG',
        message,
        'Ask a shorter question, or use a model with a larger context.',
      );
    }
    const { kept, leftOut } = fit(chunks, room);
    const parts: PromptPart[] = [
      { kind: 'text', tokens: this.#before },
      ...kept.map((chunk): PromptPart => ({ kind: 'chunk', tokens: chunk.tokens })),
      { kind: 'text', tokens: concat(ask, this.#after) },
    ];
    return {
      parts: parts.filter((part) => part.tokens.length > 0),
      tokens: fixed + sumTokens(kept),
      chunks: kept,
      leftOut,
    };
  }
}

/** Keeps chunks from the highest score down while they fit; the order of those kept does not change. */
function fit<C extends OfferedChunk>(chunks: readonly C[], room: number): { kept: C[]; leftOut: C[] } {
  const kept = new Set(chunks);
  const worstFirst = [...chunks].sort((a, b) => a.score - b.score);
  let used = sumTokens(chunks);
  for (const chunk of worstFirst) {
    if (used <= room) break;
    kept.delete(chunk);
    used -= chunk.tokens.length;
  }
  return {
    kept: chunks.filter((chunk) => kept.has(chunk)),
    leftOut: chunks.filter((chunk) => !kept.has(chunk)),
  };
}

/** Templates write the BOS or leave it to the tokenizer; either way a prompt starts with exactly one. */
function withOneBos(ids: Int32Array, info: Pick<ModelInfo, 'bosToken' | 'addBos'>): Int32Array {
  if (info.bosToken < 0) return ids;
  let start = 0;
  while (ids[start] === info.bosToken) start++;
  const wanted = start > 0 || info.addBos;
  return wanted ? concat(Int32Array.of(info.bosToken), ids.subarray(start)) : ids;
}

function tokens(model: Pick<FusionModel, 'tokenize'>, text: string, special: boolean): Int32Array {
  return text === '' ? new Int32Array(0) : model.tokenize(text, { addBos: false, special });
}

function concat(a: Int32Array, b: Int32Array): Int32Array {
  const joined = new Int32Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function sumTokens(chunks: readonly OfferedChunk[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.tokens.length, 0);
}
