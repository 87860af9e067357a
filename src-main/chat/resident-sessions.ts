import { KvasirError } from '../../src-shared/errors.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import { Resident } from './resident.ts';

interface Entry {
  resident: Resident;
  model: FusionModel;
  bytes: number;
}

/** A conversation may take this share of the memory before it has to, so that it need not move when it grows. */
const SHARE_OF_ONE = 1 / 2;

/**
 * The sessions of conversations, kept between turns. The least recently used go first when the budget is exceeded, all
 * of them when memory runs out or another model comes into use. What is gone is computed again from cached chunks.
 */
export class ResidentSessions {
  readonly #budgetBytes: () => number;
  /** In order of use, the latest last. */
  readonly #entries = new Map<number, Entry>();

  constructor(budgetBytes: () => number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Tokens a conversation has in memory now. */
  tokens(conversationId: number): number {
    return this.#entries.get(conversationId)?.resident.tokens ?? 0;
  }

  /**
   * The conversation's session, with room for `need` tokens; an empty one where there is none or it is too small.
   * `limit` is the most that can ever be needed. OUT_OF_MEMORY.
   */
  open(conversationId: number, model: FusionModel, need: number, limit: number): Resident {
    const known = this.#entries.get(conversationId);
    if (known?.model === model && known.resident.session.capacity >= need) {
      this.#entries.delete(conversationId);
      this.#entries.set(conversationId, known);
      return known.resident;
    }
    this.drop(conversationId);
    const tokenBytes = model.bytesPerToken('f16'); // what the engine keeps sessions in
    const affordable = Math.floor(this.#budgetBytes() / tokenBytes);
    // One that has outgrown its session gets twice what it needs, so that it does not do so at every question.
    const wanted = known?.model === model ? 2 * need : affordable * SHARE_OF_ONE;
    const capacity = Math.min(limit, Math.max(need, Math.min(Math.floor(wanted), affordable)));
    this.#makeRoom(capacity * tokenBytes);
    const resident = new Resident(this.#create(model, capacity, need));
    this.#entries.set(conversationId, { resident, model, bytes: resident.session.capacity * tokenBytes });
    return resident;
  }

  /** A session that belongs to no conversation; the caller disposes it. OUT_OF_MEMORY. */
  borrow(model: FusionModel, capacity: number): FusionSession {
    return this.#create(model, capacity, capacity);
  }

  /** Keeps to the budget, e.g. after an answer or when the setting has changed. */
  trim(): void {
    this.#makeRoom(0);
  }

  drop(conversationId: number): void {
    this.#entries.get(conversationId)?.resident.dispose();
    this.#entries.delete(conversationId);
  }

  /** Before a model is disposed. */
  dropModel(model: unknown): void {
    for (const [id, entry] of [...this.#entries]) if (entry.model === model) this.drop(id);
  }

  /** When another model has come into use. */
  keepOnly(model: unknown): void {
    for (const [id, entry] of [...this.#entries]) if (entry.model !== model) this.drop(id);
  }

  dropAll(): void {
    for (const id of [...this.#entries.keys()]) this.drop(id);
  }

  #create(model: FusionModel, capacity: number, need: number): FusionSession {
    try {
      return model.createSession(capacity);
    } catch (error) {
      if (!(error instanceof KvasirError && error.code === 'OUT_OF_MEMORY')) throw error;
      this.dropAll();
      return model.createSession(need);
    }
  }

  #makeRoom(bytes: number): void {
    let used = [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, bytes);
    for (const [id, entry] of this.#entries) {
      if (used <= this.#budgetBytes()) return;
      used -= entry.bytes;
      this.drop(id);
    }
  }
}
