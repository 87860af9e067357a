import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { AppendReport, ModelInfo } from '../engine/engine.ts';

/** Sums of a weighted least-squares fit of ms = a · rows + b · seen, a layer at a time. */
const FitSchema = z.object({
  rowsRows: z.number(),
  rowsSeen: z.number(),
  seenSeen: z.number(),
  rowsMs: z.number(),
  seenMs: z.number(),
  /** Milliseconds from the last layer to the logits of one token. */
  headMs: z.number(),
});
const FileSchema = z.object({ version: z.literal(1), fits: z.record(z.string(), FitSchema) });

type Fit = z.infer<typeof FitSchema>;

/** What an older append still counts when the next one comes: a process's first is slow, and machines change their speed. */
const REMEMBERED = 0.7;

/** With fewer rows a layer's time is that of reading its weights, and says nothing about a long prompt. */
const FEWEST_ROWS = 64;

const SUMS = ['rowsRows', 'rowsSeen', 'seenSeen', 'rowsMs', 'seenMs'] as const;

const EMPTY: Fit = { rowsRows: 0, rowsSeen: 0, seenSeen: 0, rowsMs: 0, seenMs: 0, headMs: 0 };

/**
 * How long a full prefill would take on this machine, learnt from the layers that answers compute in full width anyway:
 * each costs a · rows for its matrices and b for each pair of a row and a token it attends to. The last layer is left out: it
 * computes keys and values of all tokens, but the rest for one. Kept in a file.
 */
export class PrefillEstimator {
  readonly #path: string;
  readonly #fits: Map<string, Fit>;

  /** A file that is missing or cannot be read means starting anew: it holds nothing but measurements. */
  constructor(path: string) {
    this.#path = path;
    this.#fits = new Map(Object.entries(readFits(path)));
  }

  /** Learns from an append behind `past` tokens. */
  observe(info: ModelInfo, report: AppendReport, past: number): void {
    const { tokens, stages } = report;
    const full = report.layers.slice(0, -1).filter(({ rows }) => rows === tokens);
    const layersMs = full.map(({ computeStart, computeEnd }) => computeEnd - computeStart);
    this.#learn(info, { rows: tokens, seen: pairs(tokens, past), layersMs, headMs: stages.head });
  }

  /** Learns from a chunk that was encoded by itself. */
  observeEncode(info: ModelInfo, tokens: number, ms: number): void {
    this.#learn(info, {
      rows: tokens,
      seen: pairs(tokens, 0),
      layersMs: [ms / Math.max(1, info.layers - 1)],
    });
  }

  /** Milliseconds for a prompt of so many tokens; null while nothing is known of this model on this device. */
  estimate(info: ModelInfo, tokens: number): number | null {
    const fit = this.#fits.get(keyOf(info));
    if (!fit || tokens <= 0) return null;
    const { a, b } = solve(fit);
    return (info.layers - 1) * (a * tokens + b * pairs(tokens, 0)) + fit.headMs;
  }

  #learn(
    info: ModelInfo,
    { rows, seen, layersMs, headMs }: { rows: number; seen: number; layersMs: number[]; headMs?: number },
  ): void {
    if (rows < FEWEST_ROWS || layersMs.length === 0) return;
    const key = keyOf(info);
    const fit = { ...(this.#fits.get(key) ?? EMPTY) };
    for (const sum of SUMS) fit[sum] *= REMEMBERED;
    for (const ms of layersMs) {
      fit.rowsRows += rows * rows;
      fit.rowsSeen += rows * seen;
      fit.seenSeen += seen * seen;
      fit.rowsMs += rows * ms;
      fit.seenMs += seen * ms;
    }
    fit.headMs = headMs ?? fit.headMs;
    this.#fits.set(key, fit);
    this.#save();
  }

  #save(): void {
    const file: z.infer<typeof FileSchema> = { version: 1, fits: Object.fromEntries(this.#fits) };
    try {
      writeFileSync(`${this.#path}.tmp`, JSON.stringify(file));
      renameSync(`${this.#path}.tmp`, this.#path);
    } catch {
      // Without the file the next start measures again; an answer must not fail over that.
    }
  }
}

/** Pairs of a row and a token at or before it. */
function pairs(tokens: number, past: number): number {
  return tokens * past + (tokens * (tokens + 1)) / 2;
}

/** Neither cost is negative. Where the prompts seen cannot tell the two apart, all counts for rows: the smaller estimate for longer prompts. */
function solve({ rowsRows, rowsSeen, seenSeen, rowsMs, seenMs }: Fit): { a: number; b: number } {
  const determinant = rowsRows * seenSeen - rowsSeen * rowsSeen;
  if (determinant > 1e-6 * rowsRows * seenSeen) {
    const a = (rowsMs * seenSeen - seenMs * rowsSeen) / determinant;
    const b = (seenMs * rowsRows - rowsMs * rowsSeen) / determinant;
    if (a >= 0 && b >= 0) return { a, b };
    if (a < 0) return { a: 0, b: seenMs / seenSeen };
  }
  return { a: rowsMs / rowsRows, b: 0 };
}

function keyOf({ fingerprint, layerDevices, threads }: ModelInfo): string {
  return `${fingerprint}/${[...new Set(layerDevices)].join('+')}/${threads}`;
}

function readFits(path: string): Record<string, Fit> {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).fits;
  } catch {
    return {};
  }
}
