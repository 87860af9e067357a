import { z } from 'zod';
import { DeviationStatsSchema } from './fusion-report.ts';
import { PromptFiguresSchema } from './figures.ts';
import { StrategyChoiceSchema } from './strategy.ts';
import { TtftSchema } from './ttft.ts';

/**
 * One answer's prompt made in several ways, side by side, for the fusion panel. Positions count tokens from the conversation's
 * first. In a later turn the turns before are in memory already for every way but 'full', as they were for the answer.
 *
 * Deviations are those of CacheBlend (EuroSys '25, §4): how far from a full prefill.
 */

/** Numbers too many for JSON: rows × columns float32, little-endian, row after row, as base64. See `matrixValues`. */
const MatrixSchema = z.object({
  rows: z.int().min(0),
  columns: z.int().min(0),
  values: z.base64(),
});

/** A token the answer could begin with. */
const CandidateSchema = z.object({ text: z.string(), probability: z.number() });

/** Statistics over the prompt's cached tokens: those this way computed beyond its last check, and those it left as stored. */
const SplitStatsSchema = z.object({
  recomputed: DeviationStatsSchema.nullable(),
  stored: DeviationStatsSchema.nullable(),
});

/** How far one way's KV and attention are from the full prefill's. */
const DeepSchema = z.object({
  /** [layers][promptTokens]: squared L2 over KV heads of value (and key, where it stands) against the full prefill's. */
  v: MatrixSchema,
  k: MatrixSchema,
  layers: z.array(
    z.object({
      v: SplitStatsSchema,
      k: SplitStatsSchema,
      /**
       * Attention deviation (figure 6): L2 between the weights that a token of the question gives to all keys and what it gives
       * them in the full prefill; root mean square over heads and the question's last tokens. 0 to √2.
       */
      attention: z.number(),
    }),
  ),
  /** Spearman's rank correlation of the cached tokens' V deviation in layer i and layer i + 1 (figure 8): layers − 1 of them. */
  rankCorrelation: z.array(z.number()),
  /**
   * [layers][21]: the share of the cached tokens' V deviation that the 0, 5, 10, … 100 % of them which deviate most hold
   * (figure 7). All 0 in a layer where nothing deviates.
   */
  concentration: z.array(z.array(z.number())),
});

/** The prompt made in one way. */
const FIGURES = PromptFiguresSchema.pick({
  residentTokens: true,
  reusedTokens: true,
  recomputedTokens: true,
  bytesLoaded: true,
});

const ComparedMethodSchema = z.object({
  /**
   * full: everything computed. prefix: what stands in front of this turn's first passage is in memory, exactly; the rest computed.
   * reuse: every cached chunk as it is (strategy 'none'). blend: cached chunks with some tokens recomputed.
   */
  kind: z.enum(['full', 'prefix', 'reuse', 'blend']),
  /** 'full' for full and prefix, 'none' for reuse. */
  strategy: StrategyChoiceSchema,
  /** Whether the answer was made so. */
  answered: z.boolean(),
  /** What the model thought before it answered; '' where it did not. */
  thought: z.string().default(''),
  /** The answer's beginning, greedy, and whether it ended by itself within the tokens allowed, which thoughts count towards. */
  text: z.string(),
  complete: z.boolean(),
  /** From the laid-out prompt to the first token; retrieve and assemble are 0. A deep comparison's include looking at attention. */
  ttftMs: TtftSchema,
  /** The tokens that were not resident were appended within ttftMs. */
  ...FIGURES.shape,
  /** KL(full ‖ this) of the first token's distribution, in nats; 0 for full. */
  kl: z.number(),
  /** Whether the likeliest first token is the full prefill's. */
  agrees: z.boolean(),
  /** F1 of the words written, thoughts among them, against the full prefill's. */
  answerF1: z.number(),
  /** The likeliest first tokens, the likeliest first. */
  candidates: z.array(CandidateSchema),
  /** null for full and prefix, which are exact, and in a comparison that is not deep. */
  deep: DeepSchema.nullable(),
});

/** Attention deviation and KL as the recompute ratio rises (figure 6). */
const SweepPointSchema = z.object({
  ratio: z.number(),
  recomputedTokens: z.int(),
  kl: z.number(),
  agrees: z.boolean(),
  /** By layer: as DeepSchema's attention. */
  attention: z.array(z.number()),
  /** By layer: mean squared L2 of the cached tokens' V. */
  v: z.array(z.number()),
});

/** What a deep comparison says of the prompt as a whole. */
const DeepPromptSchema = z.object({
  /** How many of the question's last tokens had their attention looked at. */
  observedTokens: z.int(),
  /** The prompt from position 0. `cached`: stood in a cached chunk, so that it counts in statistics. */
  parts: z.array(
    z.object({
      kind: z.enum(['text', 'chunk']),
      start: z.int(),
      tokens: z.int(),
      title: z.string().nullable(),
      cached: z.boolean(),
    }),
  ),
  /** Text of every token of the prompt, from position 0. A character that spans several tokens stands with its last one. */
  tokens: z.array(z.string()),
  /** The first strategy compared that takes a ratio, the answer's own before others; else 'deviation'. Ratios ascend. */
  sweep: z.object({ strategy: StrategyChoiceSchema.shape.name, points: z.array(SweepPointSchema) }),
});

export const ComparisonSchema = z.object({
  version: z.literal(1),
  answerId: z.string(),
  question: z.string(),
  model: z.string(),
  /** Devices of the model's layers. */
  device: z.string(),
  layerCount: z.int(),
  dtype: z.enum(['f16', 'q8_0']),
  promptTokens: z.int(),
  /** Of each text at most. */
  answerTokens: z.int(),
  /** When it was made: milliseconds since 1970. */
  madeMs: z.number(),
  /** full, prefix, reuse, the answer's own strategy, then those asked for; each once. */
  methods: z.array(ComparedMethodSchema),
  deep: DeepPromptSchema.nullable(),
});

export const SWEEP_RATIOS = [0, 0.05, 0.15, 0.3, 0.5] as const;

/** Throws a TypeError unless there are rows × columns values. */
export function matrixOf(rows: number, columns: number, values: Float32Array): Matrix {
  if (values.length !== rows * columns) throw new TypeError('values must hold rows × columns numbers');
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { rows, columns, values: z.core.util.uint8ArrayToBase64(bytes) };
}

/** [rows][columns] in one array; row r begins at r × columns. */
export function matrixValues({ rows, columns, values }: Matrix): Float32Array {
  return new Float32Array(z.core.util.base64ToUint8Array(values).slice().buffer, 0, rows * columns);
}

export type Matrix = z.infer<typeof MatrixSchema>;
export type SplitStats = z.infer<typeof SplitStatsSchema>;
export type Deep = z.infer<typeof DeepSchema>;
export type DeepPrompt = z.infer<typeof DeepPromptSchema>;
export type SweepPoint = z.infer<typeof SweepPointSchema>;
export type ComparedMethod = z.infer<typeof ComparedMethodSchema>;
export type Comparison = z.infer<typeof ComparisonSchema>;
