/** The attention of an answer's tokens over the sentences of its passages, from the engine's question pass. */
import type { ChunkKv, Model, Session } from '../../src-main/engine/engine.ts';
import { PromptMaker, reused } from '../quality/prompt.ts';
import type { CitedAnswer, PassageSentence } from './facts.ts';

/** The question pass observes at most this many tokens at the end. */
const MOST_OBSERVERS = 64;

export class AnswerAttention {
  readonly #model: Model;
  readonly #layers: number[];
  readonly #maker: PromptMaker;

  constructor(model: Model, layers: number[]) {
    this.#model = model;
    this.#layers = layers;
    this.#maker = new PromptMaker(model, { dtype: 'f16', lead: 'headings', chunkTokens: 0 });
  }

  /** The attention that each sentence receives from the answer's tokens together. */
  async over(asked: CitedAnswer, sentences: readonly PassageSentence[]): Promise<number[]> {
    const { passages, question, answer } = asked;
    const texts = passages.map(({ text }) => text);
    const leads = new Map(
      passages.flatMap(({ title, text }) => (/^[#=] /.test(text) ? [] : [[text, `# ${title}\n\n`] as const])),
    );
    const prompt = await this.#maker.prompt({
      ...{ kind: asked.kind, passages: texts, leads, before: '', ask: `Question: ${question}` },
      ...{ references: [], maxTokens: 0 },
    });
    const tokens = this.#model.tokenize(answer);
    const session = this.#model.createSession(prompt.tokens + tokens.length);
    try {
      const written = { ...prompt, ask: Int32Array.from([...prompt.ask, ...tokens]) };
      const before = await this.#observe(session, prompt);
      const after = await this.#observe(session, written);
      const perToken = after.map((sum, i) => sum - (before[i] ?? 0));
      return bySentence(this.#model, prompt.chunks, perToken, sentences);
    } finally {
      session.dispose();
    }
  }

  /** The attention that each token of the passages receives from the observed tokens, added up. */
  async #observe(session: Session, prompt: Parameters<typeof reused>[0]): Promise<number[]> {
    session.truncate(0);
    const strategy = { kind: 'query', questionLayers: this.#layers, ratios: [0.1] } as const;
    const { question } = await session.append(reused(prompt), { ...strategy, ratios: [0.1] });
    const observers = Math.min(MOST_OBSERVERS, prompt.ask.length);
    return Array.from(question?.attention ?? [], (mean) => mean * observers);
  }

  dispose(): void {
    this.#maker.dispose();
  }
}

function bySentence(
  model: Model,
  chunks: readonly ChunkKv[],
  attention: readonly number[],
  sentences: readonly PassageSentence[],
): number[] {
  const sums = sentences.map(() => 0);
  let first = 0;
  for (const [passage, { tokens }] of chunks.entries()) {
    let end = 0;
    for (const [i] of tokens.entries()) {
      const start = end;
      end = model.detokenize(tokens.slice(0, i + 1)).length;
      const middle = (start + end) / 2;
      const at = sentences.findIndex(
        (each) => each.passage === passage && each.start <= middle && middle <= each.end,
      );
      if (at >= 0) sums[at] = (sums[at] ?? 0) + (attention[first + i] ?? 0);
    }
    first += tokens.length;
  }
  return sums;
}
