import OpenAI from 'openai';
import type { SoakQuestion } from './questions.ts';

export interface Answer {
  text: string;
  ttftMs: number;
  totalMs: number;
}

/** Asks as any program would: by the official client, once, and streamed. */
export class Asker {
  readonly #client: OpenAI;

  constructor(baseURL: string) {
    this.#client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  }

  async ask({ model, messages, maxTokens }: SoakQuestion): Promise<Answer> {
    const start = performance.now();
    // What is Kvasir's own is in no type of the client.
    const body = {
      ...{ model, messages, max_tokens: maxTokens, temperature: 0, stream: true as const },
      kvasir: { strategy: { name: 'deviation', ratio: 0.1 } },
    };
    const stream = await this.#client.chat.completions.create(body);
    let text = '';
    let ttftMs = 0;
    for await (const { choices } of stream) {
      const piece = choices[0]?.delta.content ?? '';
      if (piece !== '') ttftMs ||= performance.now() - start;
      text += piece;
    }
    const totalMs = performance.now() - start;
    return { text, ttftMs: ttftMs || totalMs, totalMs };
  }
}
