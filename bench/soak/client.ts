import OpenAI from 'openai';
import type { SoakQuestion } from './questions.ts';

export interface Answer {
  text: string;
  ttftMs: number;
  totalMs: number;
}

/** Asks like any client program: through the official client, without retries, streamed. */
export class SoakClient {
  readonly #client: OpenAI;

  constructor(baseURL: string) {
    this.#client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  }

  async ask({ model, messages, maxTokens }: SoakQuestion): Promise<Answer> {
    const start = performance.now();
    // Kvasir's extensions, for which the client has no types.
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
