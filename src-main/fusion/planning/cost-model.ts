import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { PredictedTtft } from '../../../src-shared/plan.ts';
import type { AppendReport, ModelInfo, Strategy } from '../../engine/engine.ts';
import { ComputeCostsSchema, layerFeatures, TierCostsSchema, type ComputeCosts } from './costs.ts';
import type { Transfer } from '../../kvstore/store.ts';
import { learnAppend, learnTiers, learnTransfer } from './learn.ts';
import { predict } from './predict.ts';
import {
  isLoadedFrom,
  Layout,
  narrowingIn,
  narrowingOf,
  pairsOf,
  type Piece,
  type Tier,
  type Work,
} from './work.ts';
import { withWeight, withObservation, predicted } from './fit.ts';

const FileSchema = z.object({
  version: z.literal(3),
  models: z.record(z.string(), ComputeCostsSchema),
  tiers: z.record(z.string(), TierCostsSchema),
});

/** The model's fields that costs depend on. */
export type Subject = Pick<
  ModelInfo,
  'fingerprint' | 'layerDevices' | 'threads' | 'kvDtype' | 'layers' | 'kvLayers' | 'windows'
>;

/** The weight of older appends against the next one: the speed of machines changes. */
const REMEMBERED = 0.7;

/** The weight after an append that took this many times more or less than expected: what was learnt no longer holds. */
const REMEMBERED_WHEN_WRONG = 0.3;
const WRONG = 0.3;

const LARGE_BYTES = 32 * 2 ** 20;

/** A finished append. */
export interface MeasuredWork {
  work: Work;
  report: AppendReport;
  /** Looking up and opening the chunks. */
  acquireMs: number;
}

/**
 * The cost of computing and loading on this machine: learnt from every append, stored in a file (docs/formats/costs.md). All predictions
 * are of the time to the logits of the last token.
 */
export class CostModel {
  readonly #path: string;
  #models: Record<string, ComputeCosts>;
  #tiers: z.infer<typeof FileSchema>['tiers'];

  /** A file that is missing or cannot be read is treated as empty: it holds nothing but measurements. */
  constructor(path: string) {
    this.#path = path;
    const { models, tiers } = read(path);
    this.#models = models;
    this.#tiers = tiers;
  }

  /** Whether prompts of a model can be predicted, with chunks on this tier. */
  knows(subject: Subject, tier: Tier = 'ram'): boolean {
    return (
      this.#models[keyOf(subject)]?.place !== undefined &&
      (!isLoadedFrom(tier) || this.#tiers[tier]?.load !== undefined)
    );
  }

  /** Learns from an append. */
  observe(subject: Subject, { work, report, acquireMs }: MeasuredWork): void {
    const known = this.#models[keyOf(subject)] ?? {};
    const layout = new Layout(work, narrowingIn(report), subject);
    // The chunk tokens in the engine's report must match the caller's, or times would be attributed to the wrong rows.
    if (layout.tokens !== report.tokens || layout.reusable !== report.reusableTokens) return;
    const costs = { compute: known, tiers: this.#tiers };
    const expected = predict(costs, layout, work.pieces)?.total;
    const took = acquireMs + report.totalMs;
    const wrong = expected !== undefined && Math.abs(expected - took) > WRONG * took;
    const share = wrong ? REMEMBERED_WHEN_WRONG : REMEMBERED;
    this.#models = { ...this.#models, [keyOf(subject)]: learnAppend(known, layout, report, share) };
    this.#tiers = learnTiers(this.#tiers, work.pieces, { report, acquireMs, share });
    this.#save();
  }

  /** Learns from values that arrived from other machines, for a prompt or ahead of one, or were read from another tier. */
  observeTransfer(transfer: Transfer, tier: Tier = 'shared'): void {
    const { bytes, values, ms } = transfer;
    const expected = predicted(this.#tiers[tier]?.load, [bytes, values]);
    const wrong = expected !== undefined && Math.abs(expected - ms) > WRONG * ms;
    const share = wrong ? REMEMBERED_WHEN_WRONG : REMEMBERED;
    this.#tiers = learnTransfer(this.#tiers, tier, transfer, share);
    this.#save();
  }

  /** Milliseconds until a value from other machines arrives; null before the first one. */
  transfer(bytes: number): number | null {
    return predicted(this.#tiers['shared']?.load, [bytes, 1]) ?? null;
  }

  /** Milliseconds to load all layers of some files from a tier; null before the first. */
  loadMs(
    tier: Tier,
    { files, bytes, layers }: { files: number; bytes: number; layers: number },
  ): number | null {
    const layer = predicted(this.#tiers[tier]?.load, [bytes / layers, files]);
    return layer === undefined ? null : layer * layers;
  }

  /** The throughput of a tier's disk for large files; null before the first. */
  bytesPerSecond(tier: Tier): number | null {
    const ms = this.loadMs(tier, { files: 1, bytes: LARGE_BYTES, layers: 1 });
    return ms === null || ms <= 0 ? null : (LARGE_BYTES / ms) * 1000;
  }

  /** Learns from a chunk that was encoded separately, as long as nothing better is known. */
  observeEncode(subject: Subject, tokens: number, ms: number): void {
    const known = this.#models[keyOf(subject)] ?? {};
    if (known.rest) return; // an append was observed
    const features = layerFeatures({
      rows: tokens,
      pairs: pairsOf(subject, subject.kvLayers - 1, tokens, 0),
    });
    const layer = withObservation(
      withWeight(known.layer, REMEMBERED),
      features,
      ms / Math.max(1, subject.kvLayers - 1),
    );
    this.#models = { ...this.#models, [keyOf(subject)]: { ...known, layer } };
    this.#save();
  }

  /** Milliseconds by part; null while too little is known, or when the prompt's content determines how much is computed. */
  predict(subject: Subject, work: Work, strategy: Strategy): PredictedTtft | null {
    const narrowing = narrowingOf(strategy);
    const compute = this.#models[keyOf(subject)];
    if (!narrowing || !compute) return null;
    const done = strategy.kind === 'full' ? computedOnly(work) : work;
    const layout = new Layout(done, narrowing, subject);
    return predict({ compute, tiers: this.#tiers }, layout, done.pieces) ?? null;
  }

  /** Milliseconds to compute this many tokens after `past` others; null while nothing is known about this model on this device. */
  fullPrefill(subject: Subject, tokens: number, past = 0): number | null {
    if (tokens <= 0) return null;
    const work = { past, pieces: [{ tokens, tier: null, bytes: 0 }] };
    return this.predict(subject, work, { kind: 'full' })?.total ?? null;
  }

  #save(): void {
    const file: z.infer<typeof FileSchema> = { version: 3, models: this.#models, tiers: this.#tiers };
    try {
      writeFileSync(`${this.#path}.tmp`, JSON.stringify(file));
      renameSync(`${this.#path}.tmp`, this.#path);
    } catch {
      // Without the file the next start measures again; an answer must not fail because of that.
    }
  }
}

/** The same prompt with nothing reused. */
export function computedOnly({ past, pieces }: Work): Work {
  return { past, pieces: pieces.map((piece): Piece => ({ ...piece, tier: null })) };
}

function keyOf({ fingerprint, layerDevices, threads, kvDtype }: Subject): string {
  return [fingerprint, [...new Set(layerDevices)].join('+'), threads, kvDtype].join('/');
}

function read(path: string): Pick<z.infer<typeof FileSchema>, 'models' | 'tiers'> {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { models: {}, tiers: {} };
  }
}
