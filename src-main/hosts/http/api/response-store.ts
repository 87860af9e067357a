import type { CompletionMessage } from '../../../completions/types.ts';
import { RecentStore } from '../../../platform/recent-store.ts';

const MOST_KEPT = 1000;
const MOST_UNITS = 16 * 1024 * 1024;

/** Conversations up to an answer, by the answer's id, so that a client can continue from there. */
export class ResponseStore {
  readonly #kept = new RecentStore<readonly CompletionMessage[]>(MOST_KEPT, MOST_UNITS);

  get(id: string): readonly CompletionMessage[] | undefined {
    return this.#kept.get(id);
  }

  keep(id: string, messages: readonly CompletionMessage[]): void {
    const units = messages.flatMap(({ parts, calls = [] }) => [
      ...parts.map(({ text }) => text.length),
      ...calls.map((call) => call.arguments.length),
    ]);
    this.#kept.keep(
      id,
      messages,
      units.reduce((sum, each) => sum + each, 0),
    );
  }
}
