import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { PromptPart } from '../blender.ts';

/** A prompt as it was blended. */
export interface WatchedPrompt {
  parts: readonly PromptPart[];
  /** The text right before the answer. */
  behind: string;
  strategy: StrategyChoice;
}

/** Prompts at most, and their token ids: 4 MiB. */
const MOST_PROMPTS = 12;
const MOST_TOKENS = 2 ** 20;

/** Prompts that wait to be made again and that nobody else keeps: in memory alone, since nothing of a client's text may reach the disk. */
export class MemoryPrompts {
  readonly #prompts = new Map<string, WatchedPrompt>();

  /** The oldest leave where there is no more room. */
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
