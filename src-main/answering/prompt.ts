import { KvasirError } from '../../src-shared/errors.ts';
import type { ModelInfo } from '../engine/engine.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { FusionModel } from '../fusion/model.ts';
import { answerReserve, type PromptBudget } from './limits.ts';
import type { FoundPassage } from './passages.ts';
import { sameTokens } from '../platform/token-bytes.ts';
import { conversationFrame, SYSTEM_EDGE } from './template.ts';

/** The part of a passage that a prompt needs. */
export type Offered = Pick<FoundPassage, 'tokens' | 'lead' | 'source' | 'score'>;

/** An answered turn: the tokens that were in the conversation's context, never tokenised again. */
export interface PastTurn {
  question: string;
  /** The passages placed in this turn. */
  chunks: readonly Pick<PromptPart, 'tokens' | 'lead' | 'source'>[];
  answer: Int32Array;
  /** Whether the answer followed a thought, which is dropped: the answer is then placed where templates show past answers. */
  thought?: boolean | undefined;
}

/** The earlier part of a conversation. */
export interface History {
  /** The turns that may still be in the context, oldest first. */
  turns: PastTurn[];
  /** How many older ones were dropped permanently. */
  turnsLeftOut: number;
}

/** The whole conversation as token ids, up to the start of the answer. */
export interface Prompt<C extends Offered> {
  parts: PromptPart[];
  tokens: number;
  /** The chunks placed, in the given order, each with the index of its part; a chunk of an earlier turn is not repeated. */
  cited: { chunk: C; part: number }[];
  /** Chunks that did not fit. */
  leftOut: C[];
  /** How many of the oldest turns did not fit. */
  turnsLeftOut: number;
  /** Why the model's chat template is not used. */
  plainBecause: string | undefined;
  /** The text directly before the answer. */
  behind: string;
}

/**
 * When older turns must be dropped, drop enough to free this share of the room: everything after a dropped turn moves and is recomputed,
 * which must not happen at every question.
 */
const FREED_SHARE = 1 / 4;

/** The model's instructions besides questions and documents. */
export interface Instructions {
  systemPrompt?: string | undefined;
  /** Whether to think before answering, where the template offers the choice. */
  think?: boolean | undefined;
}

/** Turns conversations into token ids for one model, using its chat template. */
export class PromptAssembler {
  readonly #model: Pick<FusionModel, 'tokenize' | 'info'>;
  readonly #instructions: Instructions;

  constructor(model: Pick<FusionModel, 'tokenize' | 'info'>, instructions: Instructions = {}) {
    this.#model = model;
    this.#instructions = instructions;
  }

  /**
   * Past turns, then chunks in the given order, question, suffix. When they exceed the context, the oldest turns are dropped first, then
   * the chunks with the lowest scores. QUESTION_TOO_LONG when the question alone does not fit.
   */
  assemble<C extends Offered>(
    question: string,
    offered: readonly C[],
    budget: PromptBudget,
    history: readonly PastTurn[] = [],
  ): Prompt<C> {
    const reserve = answerReserve(budget);
    const room = budget.contextTokens - reserve;
    const without = (left: number): Prompt<C> => ({
      ...this.#layOut(question, offered, history.slice(left)),
      turnsLeftOut: left,
    });
    const whole = without(0);
    if (whole.tokens <= room) return whole;
    const shorter = fewestLeftOut(history.length, without, room * (1 - FREED_SHARE));
    if (shorter) return shorter;
    const alone = without(history.length);
    if (alone.tokens <= room) return alone;
    const bare = this.#layOut<C>(question, [], []).tokens;
    if (bare > room) throw tooLong(bare, budget.contextTokens, reserve);
    const { kept, leftOut } = fit(offered, room - bare);
    return { ...this.#layOut(question, kept, []), leftOut, turnsLeftOut: history.length };
  }

  #layOut<C extends Offered>(
    question: string,
    offered: readonly C[],
    history: readonly PastTurn[],
  ): Prompt<C> {
    const { info } = this.#model;
    const frame = conversationFrame(info, { ...this.#instructions, turns: history.length + 1 });
    // Only text from the template may become control tokens. A plain frame has none, and may contain the user's text.
    const special = frame.plainBecause === undefined;
    const parts: PromptPart[] = [];
    const cited: { chunk: C; part: number }[] = [];
    for (const [turn, { before, between, after, answered }] of frame.turns.entries()) {
      const past = history[turn];
      const head = this.#head(before, special, turn === 0);
      parts.push({ kind: 'text', tokens: turn === 0 ? withOneBos(head, info) : head, turn });
      for (const chunk of past?.chunks ?? []) parts.push(chunkPart(chunk, turn));
      if (!past) placeOffered(offered, parts, cited, turn);
      const ask = this.#tokens(between + (past?.question ?? question), false);
      const lead = this.#tokens(past?.thought ? answered : after, special);
      const tail = [ask, lead, ...(past ? [past.answer] : [])];
      parts.push({ kind: 'text', tokens: concat(...tail), turn });
    }
    const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
    const behind = frame.turns.at(-1)?.after ?? '';
    return { parts, tokens, cited, leftOut: [], turnsLeftOut: 0, plainBecause: frame.plainBecause, behind };
  }

  /** The text before a turn: nothing in its system prompt can become a control token. */
  #head(before: string, special: boolean, begins: boolean): Int32Array {
    const [opening = '', system = '', rest = ''] = before.split(SYSTEM_EDGE);
    return concat(
      this.#tokens(opening, special, begins),
      this.#tokens(system, false, begins && opening === ''),
      this.#tokens(rest, special, begins && opening + system === ''),
    );
  }

  #tokens(text: string, special: boolean, begins = false): Int32Array {
    return text === '' ? new Int32Array(0) : this.#model.tokenize(text, { special, begins });
  }
}

/** Drops as few turns as needed; binary search, since dropping one more never makes a prompt longer. */
function fewestLeftOut<P extends { tokens: number }>(
  turns: number,
  without: (left: number) => P,
  limit: number,
): P | undefined {
  let found: P | undefined;
  for (let [low, high] = [1, turns - 1]; low <= high;) {
    const middle = (low + high) >> 1;
    const prompt = without(middle);
    if (prompt.tokens > limit) low = middle + 1;
    else [found, high] = [prompt, middle - 1];
  }
  return found;
}

/** A passage that an earlier turn placed is already in the context: it is cited from there. */
function placeOffered<C extends Offered>(
  offered: readonly C[],
  parts: PromptPart[],
  cited: { chunk: C; part: number }[],
  turn: number,
): void {
  const placed = parts.flatMap((part, index) => (part.kind === 'chunk' ? [{ part, index }] : []));
  for (const chunk of offered) {
    const known = placed.find(({ part }) => sameTokens(part.tokens, chunk.tokens));
    cited.push({ chunk, part: known?.index ?? parts.length });
    if (!known) parts.push(chunkPart(chunk, turn));
  }
}

function chunkPart({ tokens, lead, source }: PastTurn['chunks'][number], turn: number): PromptPart {
  return { kind: 'chunk', tokens, lead, source, turn };
}

/** Keeps chunks in descending order of score while they fit; the kept ones stay in order. */
export function fit<C extends Offered>(chunks: readonly C[], room: number): { kept: C[]; leftOut: C[] } {
  const kept = new Set(chunks);
  const worstFirst = [...chunks].sort((a, b) => a.score - b.score);
  let used = chunks.reduce((sum, { tokens }) => sum + tokens.length, 0);
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

function tooLong(tokens: number, contextTokens: number, reserve: number): KvasirError {
  const message = `The question has ${tokens} tokens, but the context holds ${contextTokens}, of which ${reserve} are reserved for the answer.`;
  const advice = 'Ask a shorter question, or use a model with a larger context.';
  return new KvasirError('QUESTION_TOO_LONG', message, advice);
}

/** Templates write the BOS or leave it to the tokenizer; either way a prompt starts with exactly one. */
export function withOneBos(ids: Int32Array, info: Pick<ModelInfo, 'bosToken' | 'addBos'>): Int32Array {
  if (info.bosToken < 0) return ids;
  let start = 0;
  while (ids[start] === info.bosToken) start++;
  const wanted = start > 0 || info.addBos;
  return wanted ? concat(Int32Array.of(info.bosToken), ids.subarray(start)) : ids;
}

/** Concatenates token ids. */
export function concat(...arrays: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
