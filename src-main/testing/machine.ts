import type { AppendReport, LayerReport, ModelInfo, Strategy } from '../engine/engine.ts';
import type { MeasuredWork } from '../fusion/planning/cost-model.ts';
import { computedOnly } from '../fusion/planning/cost-model.ts';
import { isLoadedFrom, type Piece, type Work } from '../fusion/planning/work.ts';

export interface MachineOptions {
  layers?: number;
  /** Those before the ones that read the KV of earlier ones; all by default. */
  kvLayers?: number;
  /** Milliseconds a row, a pair of a row and a token it sees, and a layer cost. */
  row?: number;
  pair?: number;
  layer?: number;
  /** Tokens seen in five of six layers; 0: all. */
  window?: number;
  /** Milliseconds a byte costs to load, and each read of a file. */
  byte?: number;
  read?: number;
  /** All times are multiplied by this. */
  slowness?: number;
}

/** A machine that computes nothing: it goes through an append step by step on a clock of its own, as the engine would. */
export class Machine {
  readonly info: ModelInfo;
  readonly #options: Required<MachineOptions>;

  constructor(options: MachineOptions = {}) {
    this.#options = {
      layers: 12,
      kvLayers: options.layers ?? 12,
      row: 0.02,
      pair: 2e-5,
      layer: 0.3,
      window: 0,
      byte: 1e-6,
      read: 0.05,
      slowness: 1,
      ...options,
    };
    const { layers, kvLayers, window } = this.#options;
    const windows = Array.from({ length: layers }, (_, layer) => (hasWindow(layer) ? window : 0));
    const known: Partial<ModelInfo> = {
      fingerprint: 'f',
      layerDevices: ['CPU', 'CPU'],
      threads: 2,
      kvDtype: 'f16',
      layers,
      kvLayers,
      windows: window > 0 ? windows : [],
    };
    this.info = known as ModelInfo;
  }

  run(asked: Work, strategy: Strategy): MeasuredWork {
    const work = strategy.kind === 'full' ? computedOnly(asked) : asked;
    return { work, ...new Run(work, strategy, this.#options).go() };
  }

  /** As Planner learns: a few appends of different sizes, from memory and from a tier. */
  profile(tier = 'disk'): MeasuredWork[] {
    const full = { kind: 'full' } as const;
    const query: Strategy = { kind: 'query', questionLayers: [6], ratios: [0.2] };
    const deviation: Strategy = { kind: 'deviation', checkLayers: [1], ratios: [0.2] };
    return [
      this.run(prompt(2, 128, 'ram'), full),
      this.run(prompt(2, 128, 'ram'), query),
      this.run(prompt(2, 128, 'ram'), deviation),
      this.run(prompt(2, 128, tier), query),
      this.run(prompt(4, 256, 'ram'), full),
      this.run(prompt(4, 256, 'ram'), deviation),
      this.run(prompt(4, 256, tier), query),
    ];
  }
}

/** `count` chunks from one place (null: nowhere), between a few tokens of text and a question. */
export function prompt(count: number, tokens: number, tier: string | null, bytesPerToken = 2000): Work {
  const chunk: Piece = { tokens, tier, bytes: tokens * bytesPerToken };
  const text = (n: number): Piece => ({ tokens: n, tier: null, bytes: n * bytesPerToken });
  return { past: 0, pieces: [text(1), ...Array.from({ length: count }, () => chunk), text(32)] };
}

function hasWindow(layer: number): boolean {
  return layer % 6 < 5;
}

class Run {
  readonly #work: Work;
  readonly #strategy: Strategy;
  readonly #cost: Required<MachineOptions>;
  readonly #positions: { at: number; reusable: boolean }[] = [];
  readonly #reports: LayerReport[];
  readonly #stages = { question: 0, place: 0, check: 0, select: 0, compute: 0, loadWait: 0, head: 0 };
  #now = 0;
  #loaderFree = 0;
  #arrives: number[] = [];

  constructor(work: Work, strategy: Strategy, cost: Required<MachineOptions>) {
    this.#work = work;
    this.#strategy = strategy;
    this.#cost = cost;
    let at = work.past;
    for (const { tokens, tier } of work.pieces)
      for (let i = 0; i < tokens; i++) this.#positions.push({ at: at++, reusable: tier !== null });
    this.#reports = Array.from({ length: cost.layers }, (_, layer) => ({
      ...{
        layer,
        rows: 0,
        loadStart: 0,
        loadEnd: 0,
        loadBytes: 0,
        placeMs: 0,
        computeStart: 0,
        computeEnd: 0,
      },
      recomputed: null,
      stored: null,
    }));
  }

  go(): { report: AppendReport; acquireMs: number } {
    const strategy = this.#strategy;
    const fresh = this.#positions.filter(({ reusable }) => !reusable);
    const reusable = this.#positions.length - fresh.length;
    const question = 'questionLayers' in strategy && reusable > 0 ? strategy.questionLayers : [];
    const checkLayer = 'checkLayers' in strategy && reusable > 0 ? strategy.checkLayers[0] : -1;
    const ratio = strategy.kind === 'none' ? 0 : 'ratios' in strategy ? strategy.ratios[0] : 1;
    const first = reusable === 0 ? this.#cost.kvLayers : question.length > 0 ? 0 : Math.max(0, checkLayer);
    // Text before the question is computed once where the question's pass goes through every layer.
    const looksAll = question.at(-1) === this.#cost.kvLayers - 1 && checkLayer < 0;
    const lastReused = this.#positions.findLast((position) => position.reusable)?.at ?? 0;
    const kept = this.#spread(ratio).filter((token) => token.reusable || !looksAll || token.at > lastReused);
    if (first < this.#cost.kvLayers) {
      this.#load(first);
      this.#load(first + 1);
    }
    const looked = (question.at(-1) ?? -1) + 1;
    for (let layer = 0; layer < looked; layer++) {
      this.#take(layer, first);
      this.#stages.question += this.#spend(this.#layerMs(fresh, layer) + 0.0001 * this.#positions.length);
    }
    for (let layer = 0; layer < this.#cost.layers; layer++) {
      if (layer >= first && layer >= looked && layer < this.#cost.kvLayers) this.#take(layer, first);
      this.#compute(layer, checkLayer, kept);
    }
    this.#stages.head += this.#spend(1.5);
    const files = this.#work.pieces.filter(({ tier }) => tier !== null).length;
    const recomputed = kept.filter((token) => token.reusable).length;
    const share = reusable > 0 ? recomputed / reusable : 0;
    const check = { layer: checkLayer, ratio: share, candidates: new Int32Array(0), deviation: new Float32Array(0), selected: new Int32Array(0) }; // prettier-ignore
    return {
      acquireMs: files * 0.2 * this.#cost.slowness,
      report: {
        tokens: this.#positions.length,
        reusableTokens: reusable,
        recomputedTokens: recomputed,
        processedTokens: this.#positions.length - reusable + recomputed,
        selected: new Int32Array(0),
        bytesLoaded: 0,
        bytesCrossed: 0,
        layers: this.#reports,
        totalMs: this.#now,
        checks: checkLayer >= 0 ? [check] : [],
        question: question.length > 0 ? { layers: Int32Array.from(question), candidates: new Int32Array(0), attention: new Float32Array(0) } : null, // prettier-ignore
        stages: this.#stages,
      },
    };
  }

  #compute(layer: number, checkLayer: number, kept: readonly { at: number; reusable: boolean }[]): void {
    const report = this.#reports[layer]!;
    const { row, kvLayers } = this.#cost;
    const rows = layer < checkLayer ? this.#positions : layer < kvLayers ? kept : kept.slice(-1);
    const keys = (n: number): number => 0.3 * row * n;
    report.computeStart = this.#now;
    if (layer === checkLayer) {
      this.#stages.check += this.#spend(keys(this.#positions.length));
      this.#stages.select += this.#spend(0.0005 * this.#positions.filter(({ reusable }) => reusable).length);
    }
    report.rows = rows.length;
    const last = layer === kvLayers - 1;
    this.#stages.compute += this.#spend(
      last ? keys(rows.length) + this.#layerMs(rows.slice(-1), layer) : this.#layerMs(rows, layer),
    );
    report.computeEnd = this.#now;
  }

  #layerMs(rows: readonly { at: number }[], index: number): number {
    const { row, pair, layer, window } = this.#cost;
    const sees = window > 0 && hasWindow(index) ? window : Infinity;
    return layer + row * rows.length + pair * rows.reduce((sum, { at }) => sum + Math.min(at + 1, sees), 0);
  }

  #take(layer: number, first: number): void {
    if (layer > first) this.#load(layer + 1);
    const ready = Math.max(this.#now, this.#arrives[layer] ?? 0);
    this.#stages.loadWait += ready - this.#now;
    this.#now = ready;
    const tokens = this.#positions.filter(({ reusable }) => reusable).length;
    this.#stages.place += this.#spend(0.001 * tokens);
  }

  #load(layer: number): void {
    const report = this.#reports[layer];
    if (!report || layer >= this.#cost.kvLayers) return;
    const files = this.#work.pieces.filter(({ tier }) => isLoadedFrom(tier));
    const bytes = files.reduce((sum, piece) => sum + piece.bytes, 0) / this.#cost.kvLayers;
    const { byte, read, slowness } = this.#cost;
    report.loadStart = Math.max(this.#now, this.#loaderFree);
    this.#loaderFree = report.loadEnd = report.loadStart + (bytes * byte + files.length * read) * slowness;
    report.loadBytes = bytes;
    this.#arrives[layer] = files.length > 0 ? report.loadEnd : 0;
  }

  #spend(ms: number): number {
    this.#now += ms * this.#cost.slowness;
    return ms * this.#cost.slowness;
  }

  /** All fresh tokens, and a share of the others, evenly spread. */
  #spread(ratio: number): { at: number; reusable: boolean }[] {
    let owed = 0;
    return this.#positions.filter(({ reusable }) => {
      if (!reusable) return true;
      owed += ratio;
      if (owed < 1 - 1e-9) return false;
      owed -= 1;
      return true;
    });
  }
}
