/** Asks a model one question by one method and records the outcome. */
import type { GivenTokens, Model, Segment, Session, Strategy } from '../../src-main/engine/engine.ts';
import { followGreedy, generateGreedy, type GreedyAnswer } from '../../src-main/fusion/divergence.ts';
import { reusedTokens, type Prompt, type PromptMaker } from './prompt.ts';
import type { Question } from './question.ts';

export interface MethodInput {
  model: Model;
  maker: PromptMaker;
  question: Question;
  /** The question's index in its set: the seed of all sampling. */
  index: number;
  prompt: Prompt;
  /** Large enough for the prompt and its answer. */
  session: Session;
  /** The full prefill's answer, if it was already asked. */
  full?: GreedyAnswer | undefined;
}

export interface Outcome {
  text: string;
  /** Logits along the full prefill's answer; of several calls, only the first. */
  logits: Float32Array[];
  /** Milliseconds to the first logits. */
  ms: number;
  /** Share of the passages' tokens that was computed. */
  computed: number;
  /** The method's own answer; other methods are compared along it. */
  written: GreedyAnswer;
}

/** One prompt, one greedy answer. */
export async function answer(
  { model, session, prompt, question, full }: MethodInput,
  segments: Segment[],
  strategy: Strategy | GivenTokens,
): Promise<Outcome> {
  session.truncate(0);
  const report = await session.append(segments, strategy);
  const written = await generateGreedy(session, question.maxTokens);
  const passages = reusedTokens(prompt);
  const outside = prompt.tokens - passages;
  return {
    text: textOf(model, written.tokens, question),
    logits: full ? await along(session, written, full) : written.logits,
    ms: report.totalMs,
    computed: passages > 0 ? (report.processedTokens - outside) / passages : 1,
    written,
  };

  /** Where both answers agree, the logits are already known. */
  async function along(session: Session, own: GreedyAnswer, full: GreedyAnswer): Promise<Float32Array[]> {
    const parted = full.tokens.findIndex((token, i) => token !== own.tokens[i]);
    if (parted < 0) return own.logits.slice(0, full.logits.length);
    const seen = own.logits.slice(0, parted + 1);
    const token = full.tokens[parted];
    if (token === undefined || parted + 1 >= full.logits.length) return seen;
    session.truncate(prompt.tokens + parted);
    await session.append([{ kind: 'compute', tokens: Int32Array.of(token) }], { kind: 'full' });
    return [...seen, ...(await followGreedy(session, full, { from: parted + 1 }))];
  }
}

/** The part of an answer that is scored. */
export function textOf(
  model: Model,
  tokens: Int32Array | readonly number[],
  { firstLine }: Question,
): string {
  const text = model.detokenize(tokens).trim();
  return firstLine === true ? (text.split('\n')[0] ?? '') : text;
}

export interface Method {
  name: string;
  /** Share of the reusable tokens to recompute, if the method takes one. */
  ratio?: number;
  answer: (asking: MethodInput) => Promise<Outcome>;
}
