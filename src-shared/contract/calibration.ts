import { z } from 'zod';
import { StrategyChoiceSchema, STRATEGY_NAMES } from '../strategy.ts';
import { IdSchema, KvDtypeSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';

/**
 * Text whose chunks are encoded alike, and so tolerate blending alike. 'headings': of a library, behind the headings above it. 'alone': of a
 * library without headings. 'client': text of other programs, encoded alone, which no calibration measures.
 */
const TEXT_KINDS = ['headings', 'alone', 'client'] as const;

/** How one strategy at one ratio did, over all prompts of a text set. */
const CalibrationPointSchema = z.object({
  strategy: StrategyChoiceSchema,
  /** KL(full prefill ‖ blended) of a token's distribution, in nats: mean over the full prefill's answer, and over the prompts. */
  kl: z.number(),
  /** The same of the worst prompt. */
  klMax: z.number(),
  /** Share of the answers' tokens at which both have the same likeliest. */
  agreement: z.number(),
  /** Median milliseconds for the prompt, its chunks' KV being in memory. */
  ms: z.number(),
  /** Mean share of the prompts' cached tokens that were recomputed. */
  recomputedShare: z.number(),
});

/** What a strategy must keep to be the default. */
export const QualityFloorSchema = z.object({
  maxKl: z.number().min(0),
  minAgreement: z.number().min(0).max(1),
});

const CalibrationChoiceSchema = z.object({
  /** 'blend': `strategy` meets the floor and is the cheapest. 'quality': nothing below ratio 1 meets it. 'slower': what meets it takes longer than a full prefill. */
  verdict: z.enum(['blend', 'quality', 'slower']),
  /** The default from now on; 'full' unless the verdict is 'blend'. */
  strategy: StrategyChoiceSchema,
});

export const CalibrationSchema = z.object({
  fingerprint: z.string(),
  /** Name of the model, and devices of its layers. */
  model: z.string(),
  device: z.string(),
  /** Number formats of the chunks, and of the session they are blended in. */
  dtype: KvDtypeSchema,
  kvDtype: KvDtypeSchema.default('f16'),
  /** The text it was measured on, and holds for. */
  textKind: z.enum(TEXT_KINDS).default('headings'),
  texts: z.object({
    library: z.string(),
    /** 'questions': the sample library's own; 'topics': questions about what headings and texts name. */
    kind: z.enum(['questions', 'topics']),
  }),
  prompts: z.int(),
  /** Tokens of all prompts, and of each answer at most. */
  promptTokens: z.int(),
  answerTokens: z.int(),
  /** Median milliseconds of a full prefill. */
  fullMs: z.number(),
  points: z.array(CalibrationPointSchema),
  floor: QualityFloorSchema,
  choice: CalibrationChoiceSchema,
  /** When it was measured: milliseconds since 1970. */
  measuredMs: z.number(),
});

const CalibrationStatusSchema = z.object({
  /** Of the model in use, its device and the number format in use, newest first: one for each kind of text that was measured. */
  calibrations: z.array(CalibrationSchema),
  /** Name of the model in use; null while none is loaded. */
  model: z.string().nullable(),
  running: z.boolean(),
  /** Whether the user set a strategy, which a calibration then leaves alone. */
  strategySet: z.boolean(),
});

/** Default ratios: below 5 % blending is hardly cheaper, above 50 % hardly worth it. */
export const CALIBRATION_RATIOS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.5] as const;
/** A full prefill is what the others are measured against. */
const MeasuredStrategy = z.enum(STRATEGY_NAMES).exclude(['full']);
/** Those that are nearest to it somewhere (decision 0249); others can be asked for. */
export const CALIBRATION_STRATEGIES = ['query', 'deviation', 'none'] as const;

export const CalibrationRequestSchema = z.object({
  /** Absent: the sample library; where that was deleted, the first one. */
  libraryId: IdSchema.optional(),
  strategies: z
    .array(MeasuredStrategy)
    .min(1)
    .default([...CALIBRATION_STRATEGIES]),
  ratios: z
    .array(z.number().gt(0).max(1))
    .min(1)
    .max(32)
    .default([...CALIBRATION_RATIOS]),
  /** Prompts at most. */
  prompts: z.int().min(1).max(500).default(12),
});

export const calibrationContract = {
  'calibration.get': procedure(NothingSchema, CalibrationStatusSchema),
  /**
   * Measures the model in use; questions go first meanwhile. Progress comes as 'calibration.progress'. CONFLICT while one is
   * running or when the model changes, NOT_FOUND without documents, ABORTED by calibration.stop.
   */
  'calibration.run': procedure(CalibrationRequestSchema, CalibrationSchema),
  'calibration.stop': procedure(NothingSchema, NothingSchema),
};

export type TextKind = (typeof TEXT_KINDS)[number];
export type CalibrationPoint = z.infer<typeof CalibrationPointSchema>;
export type QualityFloor = z.infer<typeof QualityFloorSchema>;
export type CalibrationChoice = z.infer<typeof CalibrationChoiceSchema>;
export type Calibration = z.infer<typeof CalibrationSchema>;
export type CalibrationStatus = z.infer<typeof CalibrationStatusSchema>;
export type CalibrationRequest = z.output<typeof CalibrationRequestSchema>;
