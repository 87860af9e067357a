/** Conversations with a model that libllama runs, laid out and continued as answers are, with everything computed exactly. */
import type { Engine, Model } from '../../src-main/engine/engine.ts';
import { headOf, partsFrom, withPassages } from '../../src-main/answering/session-tokens.ts';
import { ConversationSessions } from '../../src-main/chat/sessions.ts';
import type { PromptPart } from '../../src-main/fusion/blender.ts';
import { StoredPrefixes } from '../../src-main/fusion/stored-prefixes.ts';
import type { ChunkStore } from '../../src-main/kvstore/store.ts';
import { Gate } from '../../src-main/platform/gate.ts';

const FULL = { kind: 'full' } as const;
const CAPACITY = 4096;

export interface Turn {
  passages: Int32Array[];
  question: Int32Array;
  answer: Int32Array;
}

/** The prompt of a conversation: its head, then every turn's passages, question and answer. */
export function promptOf(head: Int32Array, turns: readonly Turn[]): PromptPart[] {
  return [
    { kind: 'text', tokens: head, turn: 0 },
    ...turns.flatMap(({ passages, question, answer }, turn): PromptPart[] => [
      ...passages.map((tokens) => ({ kind: 'chunk' as const, tokens, turn, source: SOURCE })),
      { kind: 'text', tokens: Int32Array.of(...question, ...answer), turn },
    ]),
  ];
}

const SOURCE = { document: 'notes.md', documentId: '1', libraryId: '1', title: 'Notes', ordinal: 0 };

export interface Result {
  answer: Int32Array;
  logits: Float32Array;
  /** Of the prompt: not computed, and run through the model. */
  residentTokens: number;
  restoredTokens: number;
  processedTokens: number;
  promptTokens: number;
}

export interface AnswerOptions {
  maxTokens?: number;
  /** Stops the answer after so many tokens. */
  stopAfter?: number;
}

/** What a window's process has of a model: its sessions, its memory, and what is stored of it. */
export class Program {
  readonly #model: Model;
  readonly #sessions: ConversationSessions;
  readonly prefixes: StoredPrefixes;
  readonly failures: unknown[] = [];

  private constructor(model: Model, store: ChunkStore, budgetBytes: number) {
    this.#model = model;
    this.#sessions = new ConversationSessions(() => budgetBytes);
    const onBackgroundError = (error: unknown): unknown => this.failures.push(error);
    this.prefixes = new StoredPrefixes({ store, gate: new Gate(), onBackgroundError });
  }

  static async start(engine: Engine, path: string, store: ChunkStore, budgetBytes = 1e9): Promise<Program> {
    return new Program(await engine.loadModel(path, { device: 'cpu', threads: 1 }), store, budgetBytes);
  }

  async answer(
    conversation: number,
    parts: readonly PromptPart[],
    { maxTokens = 8, stopAfter = Infinity }: AnswerOptions = {},
  ): Promise<Result> {
    const model = this.#model;
    const need = length(parts) + maxTokens;
    const wanted = { model, parts, strategy: FULL, need, limit: CAPACITY };
    const held = await this.#sessions.open(conversation, wanted);
    const counts = await held.resume(parts, { model, strategy: FULL, prefixes: this.prefixes });
    const rest = partsFrom(parts, counts.residentTokens);
    const { session } = held;
    const segments = rest.map(({ tokens }) => ({ kind: 'compute' as const, tokens }));
    const { processedTokens } = await session.append(segments, FULL);
    held.appended(rest, FULL);
    const logits = session.logits();
    const stop = new AbortController();
    let told = 0;
    const onToken = (): void => {
      if (++told >= stopAfter) stop.abort();
    };
    const before = session.length;
    const { tokens } = await session.generate({ maxTokens, signal: stop.signal, onToken });
    held.generated(tokens);
    this.#sessions.answered(conversation);
    this.#sessions.trim();
    this.prefixes.keep(model, headOf(parts));
    this.prefixes.keep(model, withPassages(parts).tokens, 'notes.md');
    return {
      ...{ answer: tokens.slice(0, session.length - before), logits, processedTokens },
      ...counts,
      promptTokens: length(parts),
    };
  }

  /** Stores what is still to be stored, and unloads the model. */
  async stop(): Promise<void> {
    await this.prefixes.idle();
    this.#sessions.dropAll();
    this.#model.dispose();
  }
}

/** The same prompt, computed from nothing, in the pieces given. */
export async function fromNothing(model: Model, pieces: readonly Int32Array[], maxTokens = 8) {
  const session = model.createSession(CAPACITY);
  try {
    await session.append(
      pieces.map((tokens) => ({ kind: 'compute', tokens })),
      FULL,
    );
    const logits = session.logits();
    return { logits, answer: (await session.generate({ maxTokens })).tokens };
  } finally {
    session.dispose();
  }
}

function length(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens.length, 0);
}
