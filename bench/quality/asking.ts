/** One question put to a model by one method, and what came of it. */
import type { GivenTokens, Model, Segment, Session, Strategy } from '../../src-main/engine/engine.ts';
import { reusedTokens, type Prompt, type PromptMaker } from './prompt.ts';
import type { Question } from './sets.ts';

export interface Asking {
  model: Model;
  /** Makes prompts of parts of the question. */
  maker: PromptMaker;
  question: Question;
  /** Of the question in its set: what is drawn is drawn from it. */
  index: number;
  prompt: Prompt;
  /** Long enough for the prompt and its answer. */
  session: Session;
}

export interface Outcome {
  text: string;
  /** From which the answer's first token was taken. */
  logits: Float32Array;
  /** Milliseconds until then. */
  ms: number;
  /** Share of the passages' tokens that was computed. */
  computed: number;
}

/** One prompt, one answer, greedily. */
export async function answer(
  { model, session, prompt, question }: Asking,
  segments: Segment[],
  strategy: Strategy | GivenTokens,
): Promise<Outcome> {
  session.truncate(0);
  const report = await session.append(segments, strategy);
  const logits = session.logits().slice(); // generating goes on in the same memory
  const { tokens } = await session.generate({ maxTokens: question.maxTokens });
  const passages = reusedTokens(prompt);
  const outside = prompt.tokens - passages;
  return {
    text: textOf(model, tokens, question),
    logits,
    ms: report.totalMs,
    computed: passages > 0 ? (report.computedTokens - outside) / passages : 1,
  };
}

/** What counts of an answer. */
export function textOf(
  model: Model,
  tokens: Int32Array | readonly number[],
  { firstLine }: Question,
): string {
  const text = model.detokenize(tokens).trim();
  return firstLine === true ? (text.split('\n')[0] ?? '') : text;
}
