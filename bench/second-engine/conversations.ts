import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, Segment } from '../../src-main/engine/engine.ts';
import type { Llama } from '../ttft/llama.ts';
import { likeliest, randomIds } from '../ttft/prompt.ts';
import { SETTLE_MS } from '../ttft/rounds.ts';
import type { Conversation, Pair } from './rows.ts';

/** Of the prompt: what a conversation begins with, as the app has it in a segment of its own. */
const HEAD = 64;

export interface Sizes {
  /** Tokens of the first prompt, with its question. */
  context: number;
  questionTokens: number;
  /** Tokens of the answer. */
  decode: number;
}

/** Room that a conversation takes, as both are given it. */
export function roomFor({ context, questionTokens, decode }: Sizes): number {
  return context + decode + questionTokens + 8;
}

/** Has both in turn, the other one first every other time, since what comes second finds the caches of the first. */
export async function pairOf(model: Model, llama: Llama, sizes: Sizes, round: number): Promise<Pair> {
  const ids = randomIds(sizes.context + sizes.questionTokens, model.info.vocabSize);
  const [prompt, question] = [ids.slice(0, sizes.context), ids.slice(sizes.context)];
  const runs: Partial<Pair> = {};
  for (const who of round % 2 === 0 ? (['llama', 'ours'] as const) : (['ours', 'llama'] as const)) {
    await sleep(SETTLE_MS);
    runs[who] = await (who === 'ours'
      ? ours(model, sizes, prompt, question)
      : theirs(llama, sizes, prompt, question));
  }
  return runs as Pair;
}

/** As the app does it: room is taken first, which llama.cpp has from its start; progress is asked for. */
async function ours(
  model: Model,
  sizes: Sizes,
  prompt: Int32Array,
  question: Int32Array,
): Promise<Conversation> {
  const session = model.createSession(roomFor(sizes));
  const append = async (...texts: Int32Array[]): Promise<{ ms: number; computed: number }> => {
    const segments = texts.map((tokens): Segment => ({ kind: 'compute', tokens }));
    const start = performance.now();
    const report = await session.append(segments, { kind: 'full' }, { onProgress: () => {} });
    return { ms: performance.now() - start, computed: report.computedTokens };
  };
  try {
    await session.reserve(roomFor(sizes));
    const first = await append(prompt.slice(0, HEAD), prompt.slice(HEAD));
    const firstToken = likeliest(session.logits());
    const { tokens, ms } = await session.generate({ maxTokens: sizes.decode, onToken: () => {} });
    if (tokens.length !== sizes.decode) throw new Error('The answer ended early.');
    const second = await append(question);
    return {
      ...{ firstTokenMs: first.ms, firstToken, tokensPerSecond: (tokens.length * 1000) / ms },
      ...{ secondTurnMs: second.ms, secondTurnComputed: second.computed },
    };
  } finally {
    session.dispose();
  }
}

async function theirs(
  llama: Llama,
  { decode }: Sizes,
  prompt: Int32Array,
  question: Int32Array,
): Promise<Conversation> {
  await llama.truncate(0);
  const { ms, firstToken = NaN } = await llama.prefill(prompt);
  const answer = await llama.decode(decode);
  const second = await llama.prefill(question);
  return {
    ...{ firstTokenMs: ms, firstToken, tokensPerSecond: (decode * 1000) / answer.ms },
    secondTurnMs: second.ms,
  };
}
