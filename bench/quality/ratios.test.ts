/** Accuracy does not fall as more tokens are recomputed, with and without an already computed prefix (regression: LMCache-Ascend#277). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engine, type Model, type Segment } from '../../src-main/engine/engine.ts';
import { klDivergence } from '../../src-main/fusion/quality.ts';
import { mean } from '../../src-main/fusion/averages.ts';
import { resolvePaths } from '../../src-main/platform/paths.ts';
import { difference } from './intervals.ts';
import { computed, PromptMaker, reused, type Prompt } from './prompt.ts';
import { f1 } from './scores.ts';
import { arranged, loadSet } from './sets.ts';
import type { Question } from './question.ts';

const RATIOS = [0, 0.05, 0.15, 0.3, 0.6, 1];
const QUESTIONS = process.env['KVASIR_FULL'] === '1' ? 40 : 12;
const PASSAGES = 6;

let model: Model;
beforeAll(async () => {
  model = await Engine.open().loadModel(resolvePaths().demoModel, { threads: 1 });
});
afterAll(() => model.dispose());

/** By ratio: each question's score, and the KL divergence of its first token from the full prefill. */
interface RatioSamples {
  scores: number[];
  kl: number[];
}

/** `cached`: the session already holds the beginning and the first passage when the rest is blended. */
async function atRatios(cached: boolean): Promise<RatioSamples[]> {
  const maker = new PromptMaker(model, { dtype: 'f16', lead: 'none', chunkTokens: 0 });
  const out = RATIOS.map((): RatioSamples => ({ scores: [], kl: [] }));
  const questions = loadSet('worlds').questions.slice(0, QUESTIONS);
  for (const [index, asked] of questions.entries()) {
    const question = arranged(asked, index, { passages: PASSAGES });
    const prompt = await maker.prompt(question);
    const full = await answer(prompt, question, cached, 'full');
    for (const [i, ratio] of RATIOS.entries()) {
      const { text, logits } = await answer(prompt, question, cached, ratio);
      out[i]?.scores.push(f1(text, question.references));
      out[i]?.kl.push(klDivergence(full.logits, logits));
    }
  }
  maker.dispose();
  return out;
}

async function answer(
  prompt: Prompt,
  { maxTokens }: Question,
  cached: boolean,
  ratio: number | 'full',
): Promise<{ text: string; logits: Float32Array }> {
  const session = model.createSession(prompt.tokens + maxTokens);
  try {
    const parts = ratio === 'full' ? computed(prompt) : reused(prompt);
    const first = cached ? 2 : 0;
    const prefix = computed(prompt).slice(0, first);
    if (cached) await session.append(prefix, { kind: 'full' });
    const rest: Segment[] = parts.slice(first);
    await session.append(
      rest,
      ratio === 'full' ? { kind: 'full' } : { kind: 'deviation', checkLayers: [1], ratios: [ratio] },
    );
    const logits = session.logits().slice();
    const { tokens } = await session.generate({ maxTokens });
    return { text: model.detokenize(tokens), logits };
  } finally {
    session.dispose();
  }
}

test.each([false, true])('with a cached prefix: %s', async (cached) => {
  const measured = await atRatios(cached);
  for (const [i, { scores, kl }] of measured.slice(1).entries()) {
    const before = measured[i];
    if (!before) throw new Error('there is no previous ratio');
    // A decrease against the lower ratio must be within chance.
    expect(difference(before.scores, scores).low).toBeLessThanOrEqual(0.01);
    expect(mean(kl)).toBeLessThanOrEqual(mean(before.kl) + 0.02);
  }
  expect(mean(measured.at(-1)?.kl ?? [1])).toBeLessThan(1e-3);
  expect(mean(measured[0]?.kl ?? [0])).toBeGreaterThan(mean(measured.at(-1)?.kl ?? [1]));
});
