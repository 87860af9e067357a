import type { Calibration, CalibrationPoint } from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { KvDtype, ModelInfo } from '../../engine/engine.ts';
import type { PromptPart } from '../blender.ts';
import { chooseStrategy, DEFAULT_FLOOR } from './choose.ts';
import {
  measurePrompt,
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

export interface CalibrateOptions {
  model: CalibrationModel;
  /** What people call it. */
  name: string;
  dtype: KvDtype;
  texts: TextSet;
  strategies: readonly StrategyChoice[];
  step: MeasureOptions['step'];
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
  nowMs: () => number;
}

/** Long enough for a sentence, in which answers that begin alike can still part. */
const ANSWER_TOKENS = 24;

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
  const { model, texts, strategies, dtype, step, onProgress } = options;
  const total = texts.prompts.length * strategies.length;
  let done = 0;
  onProgress?.({ done, total });
  const onMeasured = (): void => onProgress?.({ done: ++done, total });
  const measured: PromptMeasured[] = [];
  for (const prompt of texts.prompts) {
    measured.push(
      await measurePrompt(prompt, {
        model,
        dtype,
        strategies,
        step,
        onMeasured,
        answerTokens: ANSWER_TOKENS,
      }),
    );
  }
  const points = strategies.map((strategy, i) =>
    pointOf(
      strategy,
      measured.flatMap(({ blended }) => blended[i] ?? []),
    ),
  );
  const fullMs = median(measured.map((prompt) => prompt.fullMs));
  return {
    ...subjectOf(model.info, dtype),
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

/** What a calibration holds for. */
export function subjectOf(
  { fingerprint, layerDevices }: Pick<ModelInfo, 'fingerprint' | 'layerDevices'>,
  dtype: KvDtype,
): Pick<Calibration, 'fingerprint' | 'device' | 'dtype'> {
  return { fingerprint, device: [...new Set(layerDevices)].join('+'), dtype };
}

function pointOf(strategy: StrategyChoice, measured: readonly Measured[]): CalibrationPoint {
  return {
    strategy,
    kl: mean(measured.map(({ kl }) => kl)),
    klMax: Math.max(...measured.map(({ kl }) => kl)),
    agreement: mean(measured.map(({ agrees }) => Number(agrees))),
    answerF1: mean(measured.map(({ answerF1 }) => answerF1)),
    ms: median(measured.map(({ ms }) => ms)),
    recomputedShare: mean(measured.map(({ recomputedShare }) => recomputedShare)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
