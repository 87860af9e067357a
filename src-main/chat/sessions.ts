import { KvasirError } from '../../src-shared/errors.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { SessionTokens } from '../answering/session-tokens.ts';

/** What a question needs in memory. */
interface SessionRequest {
  model: FusionModel;
  /** The whole prompt, and the strategy for fusing it. */
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
  /** Tokens it may use while its question is answered. */
  reserved: number;
  /** Its question is being answered: it is not dropped to make room for others. */
  answering: boolean;
  /** The session it branched off, while that exists, and the tokens that both share: these count once. */
  origin: Entry | undefined;
  shared: number;
}

/** Older branches of one conversation are dropped. */
const MOST_BRANCHES = 4;

/** People return to few conversations: with a small model the budget would hold hundreds, and memory would grow for nothing. */
const MOST_SESSIONS = 16;

/**
 * The sessions of conversations, kept between turns: one for each recently used branch of a conversation; branches share their common
 * prefix. The least recently used are dropped first when the budget is exceeded, all of them when memory runs out or another model is
 * activated. Dropped KV is recomputed from cached chunks.
 */
export class ConversationSessions {
  readonly #budgetBytes: () => number;
  /** In order of use, the latest last. */
  #entries: Entry[] = [];
  /** Sessions outside conversations, and the bytes they may come to use. */
  #borrowed: { session: FusionSession; bytes: number }[] = [];

  constructor(budgetBytes: () => number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Tokens a conversation has in memory now, on its most recent branch. */
  tokens(conversationId: number): number {
    const entry = this.#entries.findLast((each) => each.conversationId === conversationId);
    return entry?.tokens.count ?? 0;
  }

  /** How many tokens of a prompt the conversation has in memory. */
  reusable(conversationId: number, parts: readonly PromptPart[], strategy: StrategyOrAuto): number {
    const own = this.#entries.filter((each) => each.conversationId === conversationId);
    return Math.max(0, ...own.map(({ tokens }) => tokens.reusable(parts, strategy)));
  }

  /**
   * The session that shares most with the prompt, with room for the rest; another branch of the conversation keeps its content. An empty
   * session if there is none. OUT_OF_MEMORY.
   */
  async open(conversationId: number, wanted: SessionRequest): Promise<SessionTokens> {
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

  /** Call when the conversation's answer has ended. */
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

  /** Releases memory that answers did not use, and enforces the budget; call when no answer is in progress. */
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

  /** Call before a model is disposed. */
  dropModel(model: unknown): void {
    for (const entry of this.#entries) if (entry.model === model) this.#drop(entry);
  }

  /** Call when another model has been activated. */
  keepOnly(model: unknown): void {
    for (const entry of this.#entries) if (entry.model !== model) this.#drop(entry);
  }

  dropAll(): void {
    for (const entry of this.#entries) this.#drop(entry);
  }

  async #branchFor(
    conversationId: number,
    { model, parts, strategy, limit }: SessionRequest,
  ): Promise<Entry> {
    let [best, keep]: [Entry | undefined, number] = [undefined, 0];
    for (const entry of this.#entries) {
      if (entry.conversationId !== conversationId || entry.model !== model) continue;
      const reusable = entry.tokens.reusable(parts, strategy);
      // On ties the latest: the branch the conversation is on.
      if (reusable >= keep) [best, keep] = [entry, reusable];
    }
    // Less than one block of the engine's memory is not worth a separate branch.
    const differs = best ? best.tokens.count - keep : 0;
    if (best && differs < model.info.kvBlockTokens && best.tokens.session.capacity >= limit) {
      best.answering = true; // set here, so that no concurrent caller drops it
      return best;
    }
    const tokens =
      best && keep > 0 ? await branchOf(best, keep) : new SessionTokens(model.createSession(limit));
    const shared = best && model.blends ? keep : 0; // libllama copies a branch
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
    // The branch that shares most of it now owns the shared tokens.
    const branches = this.#entries
      .filter(({ origin }) => origin === entry)
      .sort((a, b) => b.shared - a.shared);
    const [heir, ...others] = branches;
    if (heir) [heir.origin, heir.shared] = [entry.origin, Math.min(heir.shared, entry.shared)];
    for (const other of others) other.origin = heir;
  }

  /** Drops the least recently used until the budget is met, except one, and those being written to. */
  #makeRoom(kept: Entry | undefined): void {
    for (const entry of [...this.#entries]) {
      const bytes = this.#usedBytes() + this.#borrowedBytes();
      if (this.#entries.length <= MOST_SESSIONS && bytes <= this.#budgetBytes()) return;
      if (entry !== kept && !entry.answering) this.#drop(entry);
    }
  }

  /** Their answers are usually shorter than the maximum: conversations give up at most half of the budget for them. */
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

/** Meanwhile another conversation's question must not drop the session that this one starts from. */
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
