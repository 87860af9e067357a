/** Lays out questions' prompts as the app does: by the model's chat template, each passage tokenised separately. */
import type { ChunkKv, KvDtype, Model, Segment } from '../../src-main/engine/engine.ts';
import { withOneBos } from '../../src-main/answering/backends/token-prompt.ts';
import { messagesFrame } from '../../src-main/answering/template.ts';
import type { Question } from './question.ts';

export interface Prompt {
  before: Int32Array;
  chunks: readonly ChunkKv[];
  ask: Int32Array;
  tokens: number;
}

/** Text before the passages, the passages, and text after them. */
export interface Layout {
  before: Int32Array;
  passages: readonly Int32Array[];
  /** The tokens before which each passage is encoded. */
  leads: readonly Int32Array[];
  ask: Int32Array;
}

/**
 * Text before which passages are encoded, besides BOS: the headings above each passage, as in the app, if the set has them; nothing; a
 * fixed text; or the last N tokens of the previous passage.
 */
export type Lead = 'headings' | 'none' | { text: string } | { neighbour: number };

export interface PromptOptions {
  dtype: KvDtype;
  lead: Lead;
  /** Join the passages and split them into pieces of this many tokens; 0: keep them unchanged. */
  chunkTokens: number;
}

/** Makes prompts, and keeps the chunks of the current context, since consecutive questions often share it. */
export class PromptMaker {
  readonly #model: Model;
  readonly #options: PromptOptions;
  readonly #chunks = new Map<string, ChunkKv>();
  #passages: readonly string[] | undefined;

  constructor(model: Model, options: PromptOptions) {
    this.#model = model;
    this.#options = options;
  }

  /** The prompt with its passages' KV, encoded after `lead`. */
  async prompt(question: Question, lead = this.#options.lead): Promise<Prompt> {
    if (question.passages !== this.#passages) this.dispose();
    this.#passages = question.passages;
    const { before, passages, leads, ask } = this.layout(question, lead);
    const chunks: ChunkKv[] = [];
    for (const [i, passage] of passages.entries()) chunks.push(await this.#chunk(passage, leads[i]));
    const tokens = [before, ...passages, ask].reduce((sum, { length }) => sum + length, 0);
    return { before, chunks, ask, tokens };
  }

  /** Token ids only. */
  layout({ passages, leads, before, ask, bare }: Question, lead = this.#options.lead): Layout {
    const { texts: frame } = messagesFrame(this.#model.info, [{ role: 'user' }], { turns: true });
    const [opening = '', closing = ''] = bare === true ? [] : frame;
    const head = this.#join(this.#model.tokenize(opening, { special: true }), this.#model.tokenize(before));
    const tail = this.#join(this.#model.tokenize(ask), this.#model.tokenize(closing, { special: true }));
    const texts = passages.filter((passage) => passage !== '');
    const cut = this.#cut(texts);
    const ledBy = cut.map((_, i) => this.#lead(lead, cut[i - 1], leads?.get(texts[i] ?? '')));
    return { before: withOneBos(head, this.#model.info), passages: cut, leads: ledBy, ask: tail };
  }

  dispose(): void {
    for (const chunk of this.#chunks.values()) chunk.dispose();
    this.#chunks.clear();
  }

  #cut(passages: readonly string[]): Int32Array[] {
    const each = passages.map((passage) => this.#model.tokenize(passage));
    const size = this.#options.chunkTokens;
    if (size === 0) return each;
    const all = this.#join(...each);
    return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
      all.slice(i * size, (i + 1) * size),
    );
  }

  async #chunk(tokens: Int32Array, lead: Int32Array | undefined): Promise<ChunkKv> {
    const key = `${lead?.join(' ')}:${tokens.join(' ')}`;
    const known = this.#chunks.get(key);
    if (known) return known;
    const chunk = await this.#model.encodeChunk(tokens, this.#options.dtype, { lead });
    this.#chunks.set(key, chunk);
    return chunk;
  }

  #lead(lead: Lead, before: Int32Array | undefined, headings = ''): Int32Array {
    const { chunkTokens } = this.#options;
    if (lead === 'none') return new Int32Array();
    if (lead === 'headings') return this.#model.tokenize(chunkTokens === 0 ? headings : ''); // re-split passages have no headings
    return 'text' in lead
      ? this.#model.tokenize(lead.text)
      : (before ?? new Int32Array()).slice(-lead.neighbour);
  }

  #join(...parts: readonly Int32Array[]): Int32Array {
    return Int32Array.from(parts.flatMap((part) => [...part]));
  }
}

/** Number of the passages' tokens. */
export function reusedTokens({ chunks }: Prompt): number {
  return chunks.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** Computes all tokens. */
export function computed({ before, chunks, ask }: Prompt): Segment[] {
  const ids = [before, ...chunks.map(({ tokens }) => tokens), ask];
  return ids.filter(({ length }) => length > 0).map((tokens) => ({ kind: 'compute', tokens }));
}

/** Takes passages from the cache. */
export function reused({ before, chunks, ask }: Prompt): Segment[] {
  const segments: Segment[] = chunks.map((chunk) => ({ kind: 'chunk', chunk }));
  if (before.length > 0) segments.unshift({ kind: 'compute', tokens: before });
  return [...segments, { kind: 'compute', tokens: ask }];
}
