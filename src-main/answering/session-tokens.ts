import type { PromptPart } from '../fusion/blender.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';

/** What a session held before a prompt was appended, in tokens. */
export interface SessionTokenCounts {
  residentTokens: number;
  prefixTokens: number;
  restoredTokens: number;
}

interface Resumption {
  model: FusionModel;
  strategy: StrategyOrAuto;
  prefixes: StoredPrefixes | undefined;
  /** Called for a stored prefix whose file is damaged. */
  onDamaged?: () => void;
}

/**
 * A session and the token ids whose KV it holds: text as computed, chunks as blended, answers as sampled. The next prompt of the
 * conversation is compared with them, and only the difference is appended.
 */
export class SessionTokens {
  readonly session: FusionSession;
  readonly #ids: number[] = [];
  /** Start positions of chunks, and the strategy requested for fusing each. */
  readonly #fused = new Map<number, string>();

  constructor(session: FusionSession) {
    this.session = session;
  }

  get count(): number {
    return this.#ids.length;
  }

  /**
   * How many tokens of a prompt are already here. A chunk counts whole or not at all, and the last turn's chunks only if they were fused as
   * now requested. Two tokens are left to compute: the answer begins with the last one's logits, and a single token is computed by another
   * kernel than several, which changes the last bits.
   */
  reusable(parts: readonly PromptPart[], strategy: StrategyOrAuto): number {
    const lastTurn = parts.at(-1)?.turn;
    const wanted = JSON.stringify(strategy);
    let at = 0;
    for (const { kind, tokens, turn } of parts) {
      const same = this.#sameFrom(at, tokens);
      const whole = same === tokens.length;
      if (kind === 'chunk') {
        const fused = this.#fused.get(at);
        if (!whole || (turn === lastTurn && fused !== wanted)) return at;
      }
      at += same;
      if (!whole) return at;
    }
    return Math.max(0, at - 2);
  }

  /**
   * Drops what differs from a prompt, or takes over KV of the prompt's text that was computed earlier, for another session or before a restart:
   * if it shares nothing, or if libllama can return only to a checkpoint.
   */
  async resume(
    parts: readonly PromptPart[],
    { model, strategy, prefixes, onDamaged }: Resumption,
  ): Promise<SessionTokenCounts> {
    const kept = this.reusable(parts, strategy);
    this.truncate(kept);
    if (kept > 0 && model.blends) return { residentTokens: kept, prefixTokens: 0, restoredTokens: 0 };
    const text = exactText(parts, model.blends);
    let residentTokens = await this.#adopt(text);
    if (await prefixes?.bring(model, text, residentTokens, onDamaged)) {
      this.truncate(0);
      residentTokens = await this.#adopt(text);
    }
    const prefixTokens = Math.max(0, residentTokens - kept);
    const restoredTokens = prefixTokens > 0 ? (prefixes?.restored(model, text, residentTokens) ?? 0) : 0;
    return { residentTokens, prefixTokens, restoredTokens };
  }

  /** A session that begins with the first `length` tokens and shares their memory. */
  async fork(length: number): Promise<SessionTokens> {
    const branch = new SessionTokens(await this.session.fork(length));
    for (const id of this.#ids.slice(0, length)) branch.#ids.push(id);
    for (const [start, how] of this.#fused) if (start < length) branch.#fused.set(start, how);
    return branch;
  }

  /** Drops everything from `length` on. */
  truncate(length: number): void {
    this.session.truncate(Math.min(length, this.session.length));
    this.#ids.length = Math.min(length, this.#ids.length);
    for (const start of this.#fused.keys()) if (start >= length) this.#fused.delete(start);
  }

  /** Records what was appended. */
  appended(parts: readonly PromptPart[], strategy: StrategyOrAuto): void {
    for (const { kind, tokens } of parts) {
      if (kind === 'chunk') this.#fused.set(this.#ids.length, JSON.stringify(strategy));
      for (const token of tokens) this.#ids.push(token);
    }
  }

  /** Records what was sampled; the last token of a stopped answer may have no KV yet. */
  generated(tokens: Int32Array): void {
    for (const token of tokens.subarray(0, this.session.length - this.#ids.length)) this.#ids.push(token);
  }

  dispose(): void {
    this.session.dispose();
  }

  /**
   * Takes over what memory still holds of a text that was computed for another conversation, or before this one was forgotten. Only while
   * empty, except with libllama, whose session then holds as much as it can restore. Resolves with the tokens held.
   */
  async #adopt(ids: Int32Array): Promise<number> {
    const adopted = await this.session.adopt(ids);
    this.#ids.length = 0;
    this.#fused.clear();
    for (const id of ids.subarray(0, adopted)) this.#ids.push(id);
    return adopted;
  }

  #sameFrom(start: number, tokens: Int32Array): number {
    let same = 0;
    while (same < tokens.length && this.#ids[start + same] === tokens[same]) same++;
    return same;
  }
}

/**
 * The part of a prompt whose KV depends on nothing else, so any conversation may share it: all of it, or with blending what is before its
 * first chunk.
 */
function exactText(parts: readonly PromptPart[], blends: boolean): Int32Array {
  const end = blends ? parts.findIndex(({ kind }) => kind === 'chunk') : -1;
  return tokensOf(end < 0 ? parts : parts.slice(0, end));
}

/** The passages directly after a prompt's head. */
export function firstPassages(parts: readonly PromptPart[]): PromptPart[] {
  const end = parts.findIndex(({ kind }, index) => index > 0 && kind === 'text');
  return parts.slice(1, Math.max(1, end));
}

/** The part of a prompt before any user text, with the passages of its first question; empty if one is of no document. */
export function withPassages(parts: readonly PromptPart[]): { tokens: Int32Array; documents: string[] } {
  const passages = firstPassages(parts);
  const documents = passages.flatMap(({ source }) => (source?.documentId ? [source.document] : []));
  if (documents.length < Math.max(1, passages.length)) return { tokens: new Int32Array(0), documents: [] };
  return { tokens: tokensOf(parts.slice(0, 1 + passages.length)), documents: [...new Set(documents)] };
}

function tokensOf(parts: readonly PromptPart[]): Int32Array {
  return Int32Array.from(parts.flatMap(({ tokens }) => [...tokens]));
}

/**
 * The part of a prompt before any user text: the system prompt in the model's frame. Only this is kept across restarts, since a deleted
 * conversation must leave nothing on disk.
 */
export function headOf(parts: readonly PromptPart[]): Int32Array {
  const [head] = parts;
  return head?.kind === 'text' ? head.tokens : new Int32Array(0);
}

/** The parts of a prompt after its first `length` tokens, none of them empty. */
export function partsFrom(parts: readonly PromptPart[], length: number): (PromptPart & { index: number })[] {
  let at = 0;
  return parts.flatMap((part, index) => {
    const skip = Math.min(part.tokens.length, Math.max(0, length - at));
    at += part.tokens.length;
    const tokens = skip === 0 ? part.tokens : part.tokens.subarray(skip);
    return tokens.length > 0 ? [{ ...part, tokens, index }] : [];
  });
}
