import type {
  Calibration,
  CalibrationPoint,
  FormatLoss,
  TextKind,
} from '../../../src-shared/contract/calibration.ts';
import { KV_DTYPES } from '../../../src-shared/kv-dtype.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { KvDtype, ModelInfo } from '../../engine/engine.ts';
import type { PromptPart } from '../blender.ts';
import { chooseStrategy, DEFAULT_FLOOR, undecided } from './choose.ts';
import { intervalOf, mean, median } from '../averages.ts';
import { textKindOf } from '../text-kind.ts';
import {
  measurePrompt,
  measureSteps,
  type CalibrationModel,
  type Loss,
  type StrategyMeasurement,
  type MeasureOptions,
  type PromptMeasurement,
} from './measure.ts';

/** Prompts to measure with, and their origin. */
export interface TextSet {
  library: string;
  kind: Calibration['texts']['kind'];
  prompts: readonly (readonly PromptPart[])[];
  /** Further prompts, for strategies that the first ones leave undecided. */
  more?: readonly (readonly PromptPart[])[];
}

interface CalibrateOptions {
  model: CalibrationModel;
  name: string;
  dtype: KvDtype;
  texts: TextSet;
  strategies: readonly StrategyChoice[];
  step: MeasureOptions['step'];
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
  nowMs: () => number;
}

/** Formats that are compared with f16. */
const FORMATS = KV_DTYPES.filter((dtype) => dtype !== 'f16');

/** Long enough for a sentence, in which answers that begin alike can still diverge. */
export const ANSWER_TOKENS = 24;

/** After layer 1 the order of deviations has not settled yet in the demo model (decision 0249). */
const CHECK_LAYER = 2;

/** Every strategy at every ratio; strategies without a ratio, once. `layers`: of the model. */
export function strategiesAt(
  names: readonly StrategyChoice['name'][],
  ratios: readonly number[],
  layers: number,
): StrategyChoice[] {
  const at = layers > CHECK_LAYER ? { checkLayers: [CHECK_LAYER] } : {};
  const ascending = [...new Set(ratios)].toSorted((a, b) => a - b);
  return [...new Set(names)].flatMap((name): StrategyChoice[] =>
    name === 'none'
      ? [{ name, ratio: 0 }]
      : ascending.map((ratio) => ({ name, ratio, ...(name === 'deviation' && at) })),
  );
}

/**
 * Measures every strategy and number format on every prompt, and on further prompts those strategies that could still become the choice. Then
 * chooses the default strategy. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibration> {
  const { model, texts, dtype, strategies, onProgress } = options;
  const { prompts, more = [] } = texts;
  const progress = { done: 0, total: 0 };
  const step: MeasureOptions['step'] = async (work) => {
    const result = await options.step(work);
    progress.done++;
    onProgress?.({ ...progress });
    return result;
  };
  const measured = await measureAll(prompts, strategies, FORMATS);
  const samples = strategies.map((_, i) => measured.flatMap(({ blended }) => blended.slice(i, i + 1)));
  const pointsNow = (): CalibrationPoint[] =>
    strategies.map((strategy, i) => pointOf(strategy, samples[i] ?? []));
  const fullMs = median(measured.map((prompt) => prompt.fullMs));
  const open = undecided(pointsNow(), fullMs, DEFAULT_FLOOR);
  const further = open.length > 0 ? await measureAll(more, open, []) : [];
  for (const [i, strategy] of open.entries())
    samples[strategies.indexOf(strategy)]?.push(...further.flatMap(({ blended }) => blended.slice(i, i + 1)));
  const points = pointsNow();
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
    formats: FORMATS.map((format, i) => ({
      dtype: format,
      ...lossOf(measured.flatMap(({ formats }) => formats.slice(i, i + 1))),
    })),
    floor: DEFAULT_FLOOR,
    choice: chooseStrategy(points, fullMs, DEFAULT_FLOOR),
    measuredMs: options.nowMs(),
  };

  async function measureAll(
    asked: TextSet['prompts'],
    tried: readonly StrategyChoice[],
    formats: readonly KvDtype[],
  ): Promise<PromptMeasurement[]> {
    for (const prompt of asked) progress.total += measureSteps(prompt, tried.length, formats.length);
    onProgress?.({ ...progress });
    const all: PromptMeasurement[] = [];
    for (const prompt of asked) {
      const how = { model, dtype, formats, step, strategies: tried, answerTokens: ANSWER_TOKENS };
      all.push(await measurePrompt(prompt, how));
    }
    return all;
  }
}

/** The kind of text in most of the prompts. */
function mostOf(prompts: TextSet['prompts']): TextKind {
  const behindHeadings = prompts.filter((parts) => textKindOf(parts) === 'headings');
  return 2 * behindHeadings.length >= prompts.length ? 'headings' : 'alone';
}

/** The model, device and number formats that a calibration applies to. */
export function subjectOf(
  { fingerprint, layerDevices, kvDtype }: Pick<ModelInfo, 'fingerprint' | 'layerDevices' | 'kvDtype'>,
  dtype: KvDtype,
): Pick<Calibration, 'fingerprint' | 'device' | 'dtype' | 'kvDtype'> {
  return { fingerprint, device: [...new Set(layerDevices)].join('+'), dtype, kvDtype };
}

function pointOf(strategy: StrategyChoice, measured: readonly StrategyMeasurement[]): CalibrationPoint {
  return {
    strategy,
    ...lossOf(measured),
    ms: median(measured.map(({ ms }) => ms)),
    recomputedShare: mean(measured.map(({ recomputedShare }) => recomputedShare)),
  };
}

function lossOf(measured: readonly Loss[]): FormatLoss {
  const kls = measured.map(({ kl }) => kl);
  const agreements = measured.map(({ agreement }) => agreement);
  return {
    kl: mean(kls),
    klHigh: intervalOf(kls)?.high,
    klMax: Math.max(...kls),
    agreement: mean(agreements),
    agreementHigh: intervalOf(agreements)?.high,
  };
}
