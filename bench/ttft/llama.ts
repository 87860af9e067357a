import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { LlamaCall, LlamaReply, LlamaSettings } from './llama-process.ts';
import { PREFIX, randomIds, type Case } from './prompt.ts';
import type { Method } from './ours.ts';

/** llama.cpp in a separate process, which keeps its weights and thread pool out of ours. */
export class Llama {
  readonly #child: ChildProcess;
  readonly settings: LlamaSettings;

  private constructor(child: ChildProcess, settings: LlamaSettings) {
    this.#child = child;
    this.settings = settings;
  }

  static async open(settings: LlamaSettings): Promise<Llama> {
    const child = fork(join(import.meta.dirname, 'llama-process.ts'), [JSON.stringify(settings)], {
      serialization: 'advanced',
    });
    const llama = new Llama(child, settings);
    await llama.#reply();
    return llama;
  }

  /** Milliseconds to the logits of the last token. */
  prefill(ids: Int32Array): Promise<LlamaReply> {
    return this.#call({ call: 'prefill', ids });
  }
  decode(count: number): Promise<LlamaReply> {
    return this.#call({ call: 'decode', count });
  }
  truncate(length: number): Promise<LlamaReply> {
    return this.#call({ call: 'truncate', length });
  }
  /** Removes a range and shifts the rest: cache reuse by K-shift. */
  cut(begin: number, end: number): Promise<LlamaReply> {
    return this.#call({ call: 'cut', begin, end });
  }
  async close(): Promise<{ peakRssMiB: number }> {
    const { peakRssMiB } = await this.#call({ call: 'close' });
    this.#child.disconnect();
    return { peakRssMiB };
  }

  #call(call: LlamaCall): Promise<LlamaReply> {
    this.#child.send(call);
    return this.#reply();
  }

  #reply(): Promise<LlamaReply> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`llama.cpp's process ended (${code}).`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (reply: LlamaReply) => {
        this.#child.off('exit', onExit);
        if (reply.error !== undefined) reject(new Error(reply.error));
        else resolve(reply);
      });
    });
  }
}

/** Tries llama.cpp's settings on a short prompt and keeps the fastest, for a fair comparison. */
export async function fastest(
  base: Omit<LlamaSettings, 'flashAttention' | 'ubatch'>,
  tokens: number,
): Promise<{ llama: Llama; tried: { flashAttention: boolean; ubatch: number; ms: number }[] }> {
  const tried = [];
  for (const flashAttention of [true, false]) {
    for (const ubatch of [512, 2048]) {
      const llama = await Llama.open({ ...base, contextTokens: tokens + 64, flashAttention, ubatch });
      await llama.prefill(randomIds(64, base.vocab));
      await llama.truncate(0);
      const { ms } = await llama.prefill(randomIds(tokens, base.vocab));
      tried.push({ flashAttention, ubatch, ms });
      await llama.close();
    }
  }
  const best = tried.reduce((a, b) => (b.ms < a.ms ? b : a));
  const { flashAttention, ubatch } = best;
  return { llama: await Llama.open({ ...base, flashAttention, ubatch }), tried };
}

/** llama.cpp's methods: a full prefill, its prefix cache, and cache reuse by K-shift. In this order: each builds on the previous one. */
export function llamaMethods(llama: Llama): Method[] {
  return [
    {
      name: 'llama.cpp full prefill',
      run: async (prompt) => {
        await llama.truncate(0);
        return llama.prefill(prompt.ids);
      },
    },
    {
      // All chunks move by one token; each was computed without the chunks before it, so this is full reuse.
      name: 'llama.cpp cache reuse by K-shift',
      run: async (prompt: Case) => {
        const reused = prompt.questionAt;
        await llama.truncate(reused);
        const start = performance.now();
        await llama.cut(PREFIX, PREFIX + 1);
        await llama.prefill(prompt.ids.slice(reused));
        return { ms: performance.now() - start };
      },
    },
    {
      name: 'llama.cpp, first chunk prefix-cached',
      run: async (prompt) => {
        const cached = PREFIX + prompt.chunkTokens;
        await llama.truncate(0);
        await llama.prefill(prompt.ids.slice(0, cached));
        return llama.prefill(prompt.ids.slice(cached));
      },
    },
  ];
}
