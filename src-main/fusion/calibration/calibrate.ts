import type { Calibration, CalibrationPoint, TextKind } from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice, StrategyLayers, StrategyName } from '../../../src-shared/strategy.ts';
import type { KvDtype, ModelInfo } from '../../engine/engine.ts';
import type { PromptPart } from '../blender.ts';
import { searchLayers, searchSteps } from './search-layers.ts';
import { chooseStrategy, DEFAULT_FLOOR } from './choose.ts';
import { intervalOf, mean, median } from '../averages.ts';
import { textKindOf } from '../text-kind.ts';
import {
  measurePrompt,
  measureSteps,
  type CalibrationModel,
  type Measured,
  type MeasureOptions,
  type PromptMeasured,
} from './measure.ts';

/** Prompts to measure with, and where they come from. */
export interface TextSet {
  library: string;
  kind: Calibration['texts']['kind'];
  prompts: readonly (readonly PromptPart[])[];
}

interface CalibrateOptions {
  model: CalibrationModel;
  /** What people call it. */
  name: string;
  dtype: KvDtype;
  texts: TextSet;
  /** At the usual layers; where others suit the model better, they are measured beside them. */
  strategies: readonly StrategyChoice[];
  step: MeasureOptions['step'];
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
  nowMs: () => number;
}

/** Long enough for a sentence, in which answers that begin alike can still part. */
export const ANSWER_TOKENS = 24;

/** Every strategy at every ratio; those that take none, once. */
export function strategiesAt(
  names: readonly StrategyChoice['name'][],
  ratios: readonly number[],
): StrategyChoice[] {
  const ascending = [...new Set(ratios)].toSorted((a, b) => a - b);
  return [...new Set(names)].flatMap((name): StrategyChoice[] =>
    name === 'none' ? [{ name, ratio: 0 }] : ascending.map((ratio) => ({ name, ratio })),
  );
}

/** Measures every strategy on every prompt and chooses the default. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY. */
export async function calibrate(options: CalibrateOptions): Promise<Calibration> {
  const { model, texts, dtype, onProgress } = options;
  const { kvLayers: layers } = model.info;
  const { prompts } = texts;
  let done = 0;
  let total =
    searchSteps({ prompts, layers, strategies: options.strategies }, measureSteps) +
    stepsOf(prompts, options.strategies.length);
  onProgress?.({ done, total });
  const step: MeasureOptions['step'] = async (work) => {
    const result = await options.step(work);
    onProgress?.({ done: ++done, total });
    return result;
  };
  const measure = (
    prompt: readonly PromptPart[],
    by: readonly StrategyChoice[],
    answerTokens: number,
  ): Promise<PromptMeasured> => measurePrompt(prompt, { model, dtype, step, answerTokens, strategies: by });
  const found = await searchLayers({
    prompts,
    layers,
    strategies: options.strategies,
    floor: DEFAULT_FLOOR,
    measure: (prompt, by) => measure(prompt, by, 1),
  });
  const strategies = withLayers(options.strategies, found);
  total = done + stepsOf(prompts, strategies.length);
  const measured: PromptMeasured[] = [];
  for (const prompt of prompts) measured.push(await measure(prompt, strategies, ANSWER_TOKENS));
  const sure = measured.some((prompt) => prompt.sure) ? measured.filter((prompt) => prompt.sure) : measured;
  const points = strategies.map((strategy, i) => {
    const by = ({ blended }: PromptMeasured): Measured[] => blended.slice(i, i + 1);
    return pointOf(strategy, measured.flatMap(by), sure.flatMap(by));
  });
  const fullMs = median(measured.map((prompt) => prompt.fullMs));
  return {
    ...subjectOf(model.info, dtype),
    textKind: mostOf(prompts),
    model: options.name,
    texts: { library: texts.library, kind: texts.kind },
    prompts: texts.prompts.length,
    promptTokens: texts.prompts.flat().reduce((sum, { tokens }) => sum + tokens.length, 0),
    answerTokens: ANSWER_TOKENS,
    fullMs,
    points,
    floor: DEFAULT_FLOOR,
    choice: chooseStrategy(points, fullMs, DEFAULT_FLOOR),
    measuredMs: options.nowMs(),
  };
}

function stepsOf(prompts: TextSet['prompts'], strategies: number): number {
  return prompts.reduce((sum, prompt) => sum + measureSteps(prompt, strategies), 0);
}

/** Each strategy also with the layers that were found for it; at ratio 1 there is nothing to choose. */
function withLayers(
  strategies: readonly StrategyChoice[],
  found: ReadonlyMap<StrategyName, StrategyLayers>,
): StrategyChoice[] {
  return strategies.flatMap((choice) => {
    const layers = found.get(choice.name);
    return layers && choice.ratio < 1 ? [choice, { ...choice, ...layers }] : [choice];
  });
}

/** The kind of text in most of the prompts. */
function mostOf(prompts: TextSet['prompts']): TextKind {
  const behindHeadings = prompts.filter((parts) => textKindOf(parts) === 'headings');
  return 2 * behindHeadings.length >= prompts.length ? 'headings' : 'alone';
}

/** Which model a calibration holds for, where and in which number formats. */
export function subjectOf(
  { fingerprint, layerDevices, kvDtype }: Pick<ModelInfo, 'fingerprint' | 'layerDevices' | 'kvDtype'>,
  dtype: KvDtype,
): Pick<Calibration, 'fingerprint' | 'device' | 'dtype' | 'kvDtype'> {
  return { fingerprint, device: [...new Set(layerDevices)].join('+'), dtype, kvDtype };
}

/** `sure`: of the prompts whose answer the full prefill was sure of. */
function pointOf(
  strategy: StrategyChoice,
  measured: readonly Measured[],
  sure: readonly Measured[],
): CalibrationPoint {
  const kls = measured.map(({ kl }) => kl);
  const klHigh = intervalOf(kls)?.high;
  return {
    ...{ strategy, kl: mean(kls), ...(klHigh !== undefined && { klHigh }) },
    klMax: Math.max(...kls),
    agreement: mean(measured.map(({ agrees }) => Number(agrees))),
    answerF1: mean(sure.map(({ answerF1 }) => answerF1)),
    ms: median(measured.map(({ ms }) => ms)),
    recomputedShare: mean(measured.map(({ recomputedShare }) => recomputedShare)),
  };
}
