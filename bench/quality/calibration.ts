/** `auto` as in the app once a model is calibrated, with the app's own calibration. */
import {
  CALIBRATION_RATIOS,
  CALIBRATION_STRATEGIES,
  type Calibration,
} from '../../src-shared/contract/calibration.ts';
import type { KvDtype, Model } from '../../src-main/engine/engine.ts';
import type { PromptPart } from '../../src-main/fusion/blender.ts';
import { calibrate, strategiesAt } from '../../src-main/fusion/calibration/calibrate.ts';
import { Progress } from '../lib/progress.ts';
import { PromptMaker, type Lead } from './prompt.ts';
import type { Question } from './question.ts';

/** Same number as in the app. */
const PROMPTS = 12;

/** `questions`: questions other than those asked; undefined if there are none. */
export async function calibrationOn(
  model: Model,
  questions: readonly Question[],
  dtype: KvDtype,
  lead: Lead,
): Promise<Calibration | undefined> {
  if (questions.length === 0) return undefined;
  const progress = new Progress(0, 'calibration');
  const maker = new PromptMaker(model, { dtype, lead, chunkTokens: 0 });
  const every = Math.max(1, Math.floor(questions.length / PROMPTS));
  const taken = questions.filter((_, i) => i % every === 0).slice(0, PROMPTS);
  const more = questions.filter((question) => !taken.includes(question)).slice(0, PROMPTS);
  return calibrate({
    model,
    name: model.info.name,
    dtype,
    texts: {
      library: 'questions that are not asked',
      kind: 'questions',
      prompts: taken.map(partsOf),
      more: more.map(partsOf),
    },
    strategies: strategiesAt(CALIBRATION_STRATEGIES, CALIBRATION_RATIOS, model.info.kvLayers),
    step: (work) => work({}),
    onProgress: ({ done, total }) => done > 0 && progress.at(done, total),
    nowMs: Date.now,
  });

  function partsOf(question: Question): PromptPart[] {
    const { before, passages, leads, ask } = maker.layout(question);
    const parts: PromptPart[] = [
      { kind: 'text', tokens: before },
      ...passages.map((tokens, i): PromptPart => ({ kind: 'chunk', tokens, lead: leads[i] })),
      { kind: 'text', tokens: ask },
    ];
    return parts.filter(({ tokens }) => tokens.length > 0);
  }
}
