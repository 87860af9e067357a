import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from '../../src-main/engine/engine.ts';
import { median } from '../lib/machine.ts';
import { randomIds } from '../ttft/prompt.ts';
import { percentiles } from './summary.ts';
import type { PromptShape } from './workload.ts';

export interface ConcurrencyResult {
  /** Tokens per second, with concurrent requests and one at a time. */
  atOnce: number;
  alone: number;
  ratio: number;
  /** Milliseconds to the first token of a short question: alone (median), and while a long prompt is computed (p95). */
  shortAlone: number;
  shortBeside: number;
  shortRatio: number;
}

const PROMPT = 32;
const ANSWER = 64;
const ROUNDS = 3;
const SHORT = { prompt: 48, answer: 4, times: 12 };

/** Measures the benefit of interleaving: concurrent decoding, and a short question during a long prompt. */
export async function measureTogether(
  model: Model,
  count: number,
  { context }: PromptShape,
): Promise<ConcurrencyResult> {
  const ask = async (seed: number, prompt: number, answer: number): Promise<number> => {
    const session = model.createSession(prompt + answer);
    const began = performance.now();
    let ttft = 0;
    try {
      await session.append([{ kind: 'compute', tokens: randomIds(prompt, model.info.vocabSize, seed) }], {
        kind: 'full',
      });
      await session.generate({
        maxTokens: answer,
        sampling: { drafting: 'off' }, // the text of random weights repeats itself
        onToken: () => (ttft ||= performance.now() - began),
      });
      return ttft;
    } finally {
      session.dispose();
    }
  };
  const all = Array.from({ length: count }, (_, seed) => seed + 1);
  await ask(99, PROMPT, 8);
  const [atOnce, alone]: number[][] = [[], []];
  // Alternating, so that a machine that slows down slows both.
  for (let round = 0; round < ROUNDS; round++) {
    let start = performance.now();
    for (const seed of all) await ask(seed, PROMPT, ANSWER);
    alone?.push(perSecond(count, start));
    start = performance.now();
    await Promise.all(all.map((seed) => ask(seed, PROMPT, ANSWER)));
    atOnce?.push(perSecond(count, start));
  }
  const short = (seed: number): Promise<number> => ask(seed, SHORT.prompt, SHORT.answer);
  const idle: number[] = [];
  for (let i = 0; i < SHORT.times; i++) idle.push(await short(200 + i));
  const beside: number[] = [];
  const long = { runs: true };
  const prompt = ask(100, context, 1).then(() => (long.runs = false));
  await sleep(200);
  for (let i = 0; i < SHORT.times && long.runs; i++) beside.push(await short(300 + i));
  await prompt;
  const [together, one] = [median(atOnce ?? []), median(alone ?? [])];
  const [shortAlone, shortBeside] = [median(idle), percentiles(beside).p95];
  return {
    ...{ atOnce: together, alone: one, ratio: together / one },
    ...{ shortAlone, shortBeside, shortRatio: shortBeside / shortAlone },
  };
}

function perSecond(count: number, start: number): number {
  return (count * ANSWER) / ((performance.now() - start) / 1000);
}
