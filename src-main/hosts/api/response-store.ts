import type { CompletionMessage } from '../../completions/types.ts';

const MOST_KEPT = 1000;
const MOST_UNITS = 16 * 1024 * 1024;

interface Kept {
  messages: readonly CompletionMessage[];
  /** UTF-16 units of them all. */
  units: number;
}

/** What was said up to an answer, by the answer's id, so that a client can go on from there. In memory alone; the oldest go first. */
export class ResponseStore {
  readonly #kept = new Map<string, Kept>();
  #units = 0;

  get(id: string): readonly CompletionMessage[] | undefined {
    return this.#kept.get(id)?.messages;
  }

  keep(id: string, messages: readonly CompletionMessage[]): void {
    const units = messages.reduce(
      (sum, { parts }) => sum + parts.reduce((all, { text }) => all + text.length, 0),
      0,
    );
    this.#kept.set(id, { messages, units });
    this.#units += units;
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT && this.#units <= MOST_UNITS) return;
      this.#kept.delete(oldest);
      this.#units -= kept.units;
    }
  }
}
