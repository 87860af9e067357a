import { KvasirError } from '../../src-shared/errors.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { isRemote, type FusionModel, type FusionSession } from '../fusion/model.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { SessionTokens } from '../answering/session-tokens.ts';

/** What a question needs of memory. */
interface Wanted {
  model: FusionModel;
  /** The whole prompt, and how it is to be fused. */
  parts: readonly PromptPart[];
  strategy: StrategyOrAuto;
  /** Tokens of prompt and answer at most, and the most the conversation may ever need. */
  need: number;
  limit: number;
}

interface Entry {
  conversationId: number;
  tokens: SessionTokens;
  model: FusionModel;
  /** Tokens it may take while its question is answered. */
  reserved: number;
  /** Its question is being answered: it does not make room for others. */
  answering: boolean;
  /** The session it branched off, while that one is there, and the tokens both have in common: these count once. */
  origin: Entry | undefined;
  shared: number;
}

/** Older branches of one conversation are not kept. */
const MOST_BRANCHES = 4;

/** People go back to few conversations: with a small model the budget would hold hundreds, and memory grow for nothing. */
const MOST_SESSIONS = 16;

/**
 * The sessions of conversations, kept between turns: one for each branch that a conversation has lately been on, which share
 * what they begin with. The least recently used go first when the budget is exceeded, all of them when memory runs out or
 * another model comes into use. What is gone is computed again from cached chunks.
 */
export class ConversationSessions {
  readonly #budgetBytes: () => number;
  /** In order of use, the latest last. */
  #entries: Entry[] = [];
  /** Of no conversation, and what they may come to take. */
  #borrowed: { session: FusionSession; bytes: number }[] = [];

  constructor(budgetBytes: () => number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Tokens a conversation has in memory now, of the branch it was on last. */
  tokens(conversationId: number): number {
    const entry = this.#entries.findLast((each) => each.conversationId === conversationId);
    return entry && !isRemote(entry.model) ? entry.tokens.count : 0;
  }

  /**
   * The session that has most of the prompt, and room for the rest; another branch of the conversation keeps what it has. An
   * empty one where there is none. OUT_OF_MEMORY.
   */
  async open(conversationId: number, wanted: Wanted): Promise<SessionTokens> {
    const { model, need } = wanted;
    const entry = await this.#branchFor(conversationId, wanted);
    this.#entries = [...this.#entries.filter((other) => other !== entry), entry];
    entry.reserved = need;
    entry.answering = true;
    model.setKvBudget(this.#budgetBytes());
    const branches = this.#entries.filter((other) => other.conversationId === conversationId);
    for (const old of branches.slice(0, -MOST_BRANCHES)) this.#drop(old);
    this.#makeRoom(entry);
    try {
      await entry.tokens.session.reserve(need);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      for (const other of this.#entries) if (!other.answering) this.#drop(other);
      await entry.tokens.session.reserve(need);
    }
    return entry.tokens;
  }

  /** The conversation's answer has ended. */
  answered(conversationId: number): void {
    for (const entry of this.#entries) if (entry.conversationId === conversationId) entry.answering = false;
  }

  /** A session that belongs to no conversation, for which others make room; the caller disposes it. OUT_OF_MEMORY. */
  borrow(model: FusionModel, capacity: number): FusionSession {
    model.setKvBudget(this.#budgetBytes());
    const session = this.#created(model, capacity);
    this.#forgetDisposed();
    this.#borrowed.push({ session, bytes: capacity * model.bytesPerToken(model.info.kvDtype) });
    this.#makeRoom(undefined);
    return session;
  }

  /** Gives back what answers did not use, and keeps to the budget; when no answer is being made. */
  trim(): void {
    this.#forgetDisposed();
    for (const entry of this.#entries) {
      if (entry.reserved > 0) entry.tokens.truncate(entry.tokens.count);
      entry.reserved = 0;
      entry.model.setKvBudget(this.#budgetBytes());
    }
    this.#makeRoom(undefined);
  }

  drop(conversationId: number): void {
    for (const entry of this.#entries) if (entry.conversationId === conversationId) this.#drop(entry);
  }

  /** Before a model is disposed. */
  dropModel(model: unknown): void {
    for (const entry of this.#entries) if (entry.model === model) this.#drop(entry);
  }

  /** When another model has come into use. */
  keepOnly(model: unknown): void {
    for (const entry of this.#entries) if (entry.model !== model) this.#drop(entry);
  }

  dropAll(): void {
    for (const entry of this.#entries) this.#drop(entry);
  }

  async #branchFor(conversationId: number, { model, parts, strategy, limit }: Wanted): Promise<Entry> {
    let [best, keep]: [Entry | undefined, number] = [undefined, 0];
    for (const entry of this.#entries) {
      if (entry.conversationId !== conversationId || entry.model !== model) continue;
      const reusable = entry.tokens.reusable(parts, strategy);
      // The latest of equals: the branch the conversation is on.
      if (reusable >= keep) [best, keep] = [entry, reusable];
    }
    // Less than a block of the engine's memory is not worth a branch of its own.
    const differs = best ? best.tokens.count - keep : 0;
    if (best && differs < model.info.kvBlockTokens && best.tokens.session.capacity >= limit) {
      best.answering = true; // already, so that nobody who is let run before drops it
      return best;
    }
    const shared = best ? keep : 0;
    const tokens =
      best && shared > 0 ? await branchOf(best, shared) : new SessionTokens(model.createSession(limit));
    return { conversationId, tokens, model, reserved: 0, answering: false, origin: best, shared };
  }

  #created(model: FusionModel, capacity: number): FusionSession {
    try {
      return model.createSession(capacity);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      for (const entry of this.#entries) if (!entry.answering) this.#drop(entry);
      return model.createSession(capacity);
    }
  }

  #drop(entry: Entry): void {
    entry.tokens.dispose();
    this.#entries = this.#entries.filter((other) => other !== entry);
    // The branch that shares most of it now stands for what they share.
    const branches = this.#entries
      .filter(({ origin }) => origin === entry)
      .sort((a, b) => b.shared - a.shared);
    const [heir, ...others] = branches;
    if (heir) [heir.origin, heir.shared] = [entry.origin, Math.min(heir.shared, entry.shared)];
    for (const other of others) other.origin = heir;
  }

  /** Drops the least recently used until the budget is kept, but for one, and for those that are written into. */
  #makeRoom(kept: Entry | undefined): void {
    for (const entry of [...this.#entries]) {
      const bytes = this.#usedBytes() + this.#borrowedBytes();
      if (this.#entries.length <= MOST_SESSIONS && bytes <= this.#budgetBytes()) return;
      if (entry !== kept && !entry.answering) this.#drop(entry);
    }
  }

  /** Their answers are mostly shorter than they may be: conversations give them half of the budget at most. */
  #borrowedBytes(): number {
    this.#forgetDisposed();
    const bytes = this.#borrowed.reduce((sum, each) => sum + each.bytes, 0);
    return Math.min(bytes, this.#budgetBytes() / 2);
  }

  #forgetDisposed(): void {
    this.#borrowed = this.#borrowed.filter(({ session }) => !session.disposed);
  }

  #usedBytes(): number {
    return this.#entries.reduce((sum, { tokens, model, reserved, shared }) => {
      const { kvBlockTokens: block, kvDtype } = model.info;
      const blocks = Math.ceil(Math.max(tokens.count, reserved) / block) - Math.floor(shared / block);
      return sum + blocks * block * model.bytesPerToken(kvDtype) + model.bytesPerSession;
    }, 0);
  }
}

/** Meanwhile another conversation's question must not drop the one that it begins with. */
async function branchOf(entry: Entry, length: number): Promise<SessionTokens> {
  const { answering } = entry;
  entry.answering = true;
  try {
    return await entry.tokens.fork(length);
  } finally {
    entry.answering = answering;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof KvasirError && error.code === 'OUT_OF_MEMORY';
}
