import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { PromptPart } from '../blender.ts';

export interface WatchedPrompt {
  parts: readonly PromptPart[];
  /** The text directly before the answer. */
  behind: string;
  strategy: StrategyChoice;
}

/** Maximum number of prompts, and of their token ids: 4 MiB. */
const MOST_PROMPTS = 12;
const MOST_TOKENS = 2 ** 20;

/** Prompts waiting to be recomputed that nothing else stores: only in memory, since a client's text must never be written to disk. */
export class MemoryPrompts {
  readonly #prompts = new Map<string, WatchedPrompt>();

  /** The oldest are dropped when there is no more room. */
  keep(id: string, prompt: WatchedPrompt): void {
    this.#prompts.set(id, prompt);
    for (const oldest of this.#prompts.keys()) {
      if (this.#prompts.size <= MOST_PROMPTS && this.#tokens() <= MOST_TOKENS) break;
      this.#prompts.delete(oldest);
    }
  }

  get(id: string): WatchedPrompt | undefined {
    return this.#prompts.get(id);
  }

  forget(id: string): void {
    this.#prompts.delete(id);
  }

  clear(): void {
    this.#prompts.clear();
  }

  #tokens(): number {
    const parts = [...this.#prompts.values()].flatMap((prompt) => prompt.parts);
    return parts.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }
}
