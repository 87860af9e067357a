import type { KvasirError } from '../../src-shared/errors.ts';
import type { PromptChunk } from './passages.ts';
import type { MessageCalls, Role } from './template-messages.ts';
import type { ToolRequest } from './tools.ts';

/** Text of a client to be cached as a chunk, not tokenised yet. */
export interface MarkedText {
  text: string;
  title: string;
  /** Its position among the pieces of its message, from 0. */
  position: number;
}

export interface Message extends MessageCalls {
  role: Role;
  pieces: readonly (string | PromptChunk | MarkedText)[];
  /** Set if the chat template is to read the pieces, all of them text: Kvasir's own instructions. */
  isRead?: boolean | undefined;
  /**
   * An answer of this conversation: its tokens, never tokenised again, and whether it followed a thought, which is
   * dropped: it is then placed where templates show past answers, else where it was generated.
   */
  answer?: { tokens: Int32Array; thought: boolean } | undefined;
}

/** What a prompt is made of, and the room for it. */
export interface PromptRequest {
  messages: readonly Message[];
  /** Whether to think before answering, where the template offers the choice. */
  think: boolean;
  /** A conversation may lose its oldest turns; raw text is continued without a template. */
  form: 'conversation' | 'messages' | 'text';
  /** Declared to the model; BAD_ARGUMENT where its template has none. */
  tools?: ToolRequest | undefined;
  /** Tokens of prompt and answer at most, and how many of them the prompt leaves for the answer. */
  contextTokens: number;
  reserve: number;
}

/** A prompt as laid out for a model. */
export interface Prompt {
  /** Estimated for a model on a server. */
  tokens: number;
  /** `turn`: the number of questions before it. */
  parts: readonly { kind: 'text' | 'chunk'; turn?: number | undefined }[];
  /** Its chunks, in the given order, each with the index of its part; a chunk of an earlier turn is not repeated. */
  cited: { chunk: PromptChunk; part: number }[];
  /** Chunks that did not fit. */
  leftOut: PromptChunk[];
  /** How many of the oldest turns did not fit. */
  turnsLeftOut: number;
  /** Why the model's chat template is not used. */
  plainBecause: string | undefined;
}

/** When older turns must be dropped, drop enough to free this share of the room: everything after a dropped turn moves and is recomputed. */
const FREED_SHARE = 1 / 4;

/** Messages of a turn: question and answer. */
const TURN = 2;

/**
 * Lays out messages in the room for them: when they exceed it, a conversation's oldest turns are dropped first, then the passages of the
 * last message with the lowest scores. Throws `tooLong` when the rest does not fit either.
 */
export function fitted<P extends Prompt>(
  { messages, form, contextTokens, reserve }: PromptRequest,
  layOut: (messages: readonly Message[]) => P,
  tooLong: (tokens: number) => KvasirError,
): P {
  const room = contextTokens - reserve;
  const whole = layOut(messages);
  if (whole.tokens <= room) return whole;
  const first = messages[0]?.role === 'system' ? 1 : 0;
  const turns = form === 'conversation' ? Math.floor((messages.length - first) / TURN) : 0;
  const without = (left: number): P => ({
    ...layOut(messages.toSpliced(first, left * TURN)),
    turnsLeftOut: left,
  });
  const shorter = fewestLeftOut(turns, without, room * (1 - FREED_SHARE));
  if (shorter) return shorter;
  const alone = turns > 0 ? without(turns) : whole;
  if (alone.tokens <= room) return alone;
  return withBest(messages.toSpliced(first, turns * TURN), { room, turns, layOut, tooLong });
}

/** Without the passages of the last message with some that do not fit. */
function withBest<P extends Prompt>(
  messages: readonly Message[],
  {
    room,
    turns,
    layOut,
    tooLong,
  }: {
    room: number;
    turns: number;
    layOut: (messages: readonly Message[]) => P;
    tooLong: (tokens: number) => KvasirError;
  },
): P {
  // Calls of tools and their results may follow the question.
  const at = messages.findLastIndex(({ pieces }) => pieces.some(isChunk));
  const asking = messages[at];
  const offered = (asking?.pieces ?? []).filter(isChunk);
  const keeping = (kept: ReadonlySet<PromptChunk>): P => {
    if (!asking) return layOut(messages);
    const pieces = asking.pieces.filter((piece) => !isChunk(piece) || kept.has(piece));
    return layOut(messages.with(at, { ...asking, pieces }));
  };
  const bare = keeping(new Set()).tokens;
  if (bare > room) throw tooLong(bare);
  const kept = bestOf(offered, room - bare);
  return {
    ...keeping(kept),
    leftOut: offered.filter((chunk) => !kept.has(chunk)),
    turnsLeftOut: turns,
  };
}

/** Drops as few turns as needed; binary search, since dropping one more never makes a prompt longer. */
function fewestLeftOut<P extends Prompt>(
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

/** Keeps chunks in descending order of score while they fit. */
function bestOf(chunks: readonly PromptChunk[], room: number): Set<PromptChunk> {
  const kept = new Set(chunks);
  let used = chunks.reduce((sum, { tokens }) => sum + tokens.length, 0);
  for (const chunk of chunks.toSorted((a, b) => a.score - b.score)) {
    if (used <= room) break;
    kept.delete(chunk);
    used -= chunk.tokens.length;
  }
  return kept;
}

export function isChunk(piece: Message['pieces'][number]): piece is PromptChunk {
  return typeof piece !== 'string' && 'tokens' in piece;
}
