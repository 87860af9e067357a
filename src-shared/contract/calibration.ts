import { z } from 'zod';
import { StrategyChoiceSchema, STRATEGY_NAMES } from '../strategy.ts';
import { KvDtypeSchema, SessionDtypeSchema } from '../kv-dtype.ts';
import { IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';

/**
 * Kinds of text, by how chunks are encoded, which determines how well they blend. 'headings': a library's, after their
 * headings. 'alone': a library's without headings. 'client': text of other programs, encoded alone, which no
 * calibration measures.
 */
const TEXT_KINDS = ['headings', 'alone', 'client'] as const;

/** Result of one strategy at one ratio, over all prompts of a text set. */
const CalibrationPointSchema = z.object({
  strategy: StrategyChoiceSchema,
  /** KL(full prefill ‖ blended) of a token's distribution, in nats: mean over the full prefill's answer, and over the prompts. */
  kl: z.number(),
  /** The upper end of that mean's 90 % confidence interval over the prompts; absent: measured by an earlier version. */
  klHigh: z.number().optional(),
  /** The mean of the worst prompt. */
  klMax: z.number(),
  /** Share of the answers' tokens where both have the same most likely token, and the upper end of its interval. */
  agreement: z.number(),
  agreementHigh: z.number().optional(),
  /** Median milliseconds for the prompt, with its chunks' KV in memory. */
  ms: z.number(),
  /** Mean share of the prompts' cached tokens that were recomputed. */
  recomputedShare: z.number(),
});

/** What storing chunks in a number format changes: prompts that reuse all of them, against the same in f16. */
export const FormatLossSchema = z.object({
  /** KL(f16 ‖ format) in nats, as for points: mean, upper end of its 90 % interval, and the worst prompt's mean. */
  kl: z.number(),
  klHigh: z.number().optional(),
  klMax: z.number(),
  agreement: z.number(),
  agreementHigh: z.number().optional(),
});

/** Quality requirements for a default strategy. */
export const QualityFloorSchema = z.object({
  maxKl: z.number().min(0),
  minAgreement: z.number().min(0).max(1),
});

const CalibrationChoiceSchema = z.object({
  /**
   * 'blend': `strategy` meets the floor and is the cheapest. 'quality': nothing below ratio 1 meets it. 'slower':
   * strategies that meet it take longer than a full prefill.
   */
  verdict: z.enum(['blend', 'quality', 'slower']),
  /** The new default; 'full' unless the verdict is 'blend'. */
  strategy: StrategyChoiceSchema,
});

export const CalibrationSchema = z.object({
  fingerprint: z.string(),
  /** Name of the model, and devices of its layers. */
  model: z.string(),
  device: z.string(),
  /** Data types of the chunks and of the session they are blended in. */
  dtype: KvDtypeSchema,
  kvDtype: SessionDtypeSchema.default('f16'),
  /** The kind of text it was measured on and applies to. */
  textKind: z.enum(TEXT_KINDS).default('headings'),
  texts: z.object({
    library: z.string(),
    /** 'questions': the sample library's own questions; 'topics': questions about headings and names in the texts. */
    kind: z.enum(['questions', 'topics']),
  }),
  /** For every strategy; those that these left undecided were measured on as many again at most. */
  prompts: z.int(),
  /** Tokens of all these prompts; then the maximum of each answer. */
  promptTokens: z.int(),
  answerTokens: z.int(),
  /** Median milliseconds of a full prefill. */
  fullMs: z.number(),
  points: z.array(CalibrationPointSchema),
  /** Number formats but f16; empty: measured by an earlier version. */
  formats: z.array(FormatLossSchema.extend({ dtype: KvDtypeSchema })).default([]),
  floor: QualityFloorSchema,
  choice: CalibrationChoiceSchema,
  /** Time of the measurement: milliseconds since 1970. */
  measuredMs: z.number(),
});

const CalibrationStatusSchema = z.object({
  /** Calibrations of the current model, device and data type, newest first: one for each kind of text measured. */
  calibrations: z.array(CalibrationSchema),
  /** Name of the current model; null if none is loaded. */
  model: z.string().nullable(),
  running: z.boolean(),
  /** Whether the user set a strategy, which a calibration then does not change. */
  strategySet: z.boolean(),
});

/** Default ratios: below 5 % blending is hardly cheaper, above 50 % hardly worth it. */
export const CALIBRATION_RATIOS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.5] as const;
/** A full prefill is the reference for the others. */
const MeasuredStrategy = z.enum(STRATEGY_NAMES).exclude(['full']);
/** Those that are nearest to it in some case (decision 0249); others are available on request. */
export const CALIBRATION_STRATEGIES = ['query', 'deviation', 'none'] as const;

export const CalibrationRequestSchema = z.object({
  /** Absent: the sample library; if that was deleted, the first one. */
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
  /** Maximum number of prompts for every strategy. */
  prompts: z.int().min(1).max(500).default(12),
});

export const calibrationContract = {
  'calibration.get': procedure(NothingSchema, CalibrationStatusSchema),
  /**
   * Measures the current model; questions take priority meanwhile. Progress is sent as 'calibration.progress'. CONFLICT
   * while one is running or if the model changes, NOT_FOUND without documents, ABORTED by calibration.stop.
   */
  'calibration.run': procedure(CalibrationRequestSchema, CalibrationSchema),
  'calibration.stop': procedure(NothingSchema, NothingSchema),
};

export type TextKind = (typeof TEXT_KINDS)[number];
export type CalibrationPoint = z.infer<typeof CalibrationPointSchema>;
export type FormatLoss = z.infer<typeof FormatLossSchema>;
export type QualityFloor = z.infer<typeof QualityFloorSchema>;
export type CalibrationChoice = z.infer<typeof CalibrationChoiceSchema>;
export type Calibration = z.infer<typeof CalibrationSchema>;
export type CalibrationStatus = z.infer<typeof CalibrationStatusSchema>;
export type CalibrationRequest = z.output<typeof CalibrationRequestSchema>;
