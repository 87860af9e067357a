import type { AppendReport, Strategy } from '../../engine/engine.ts';

/**
 * The location of a piece's KV: 'device', 'ram', or the name of a tier to load from: 'disk', 'disk:' and the id of an added folder, or
 * 'shared', on other machines.
 */
export type Tier = string;

/** The tier of a chunk's file: each folder is one, since each disk has its speed. */
export function fileTier(folder = ''): Tier {
  return folder === '' ? 'disk' : `disk:${folder}`;
}

/** Whether loading a piece takes time: not if it is in memory, of the computer or of the model's device. */
export function isLoadedFrom(tier: Tier | null): tier is Tier {
  return tier !== null && tier !== 'ram' && tier !== 'device';
}

/** Whether whole values arrive from the start on, whatever layer is needed next: nothing waits until a layer is requested. */
export function isStreamed(tier: Tier | null): boolean {
  return tier === 'shared';
}

/** How many of a tier's files are opened sequentially: streamed ones are opened in parallel. */
export function openedInTurn(tier: Tier, files: number): number {
  return isStreamed(tier) ? 1 : files;
}

/** A run of tokens, in order: from a tier, or computed (null). */
export interface Piece {
  tokens: number;
  tier: Tier | null;
  /** Bytes of its stored KV, all layers together. */
  bytes: number;
  /** Pieces with the same value belong to one chunk: its cached parts are used together, or not at all. */
  chunk?: number;
}

/** The work of an append; `past` tokens are already there. */
export interface Work {
  past: number;
  pieces: readonly Piece[];
}

/** Rows that a layer computes, and pairs of such a row and a token that it attends to. */
export interface Rows {
  rows: number;
  pairs: number;
}

/** The attention windows of a model's layers; part of ModelInfo. */
export interface AttentionWindows {
  layers: number;
  /** Layers with their own keys and values: after them only the last token is computed. */
  kvLayers: number;
  /** Layer → its window in tokens, 0: all previous tokens. Empty: all, everywhere. */
  windows: readonly number[];
}

/** Pairs of the tokens after `past` others, and the tokens that each of them sees in a layer. */
export function pairsOf({ windows }: AttentionWindows, layer: number, tokens: number, past: number): number {
  return pairsWithin(windows[layer] || Infinity, tokens, past);
}

/** The first tokens see fewer than the window holds. */
function pairsWithin(window: number, tokens: number, past: number): number {
  const first = Math.max(0, Math.min(tokens, window - past));
  return first * past + (first * (first + 1)) / 2 + (first < tokens ? (tokens - first) * window : 0);
}

/** The computation of one layer: keys and values of some rows, then the layer for the remaining ones. */
interface LayerSteps {
  /** A check: keys and values only, and tokens are selected. */
  check: Rows | null;
  /** The layer itself; in the last one of all rows only keys and values (unless a check had them), and one row. */
  rows: Rows;
}

/** Shares of the reusable tokens that a strategy recomputes, and the layers where each share starts. */
interface SelectionSchedule {
  /** Layer after whose check the share applies; -1: from the start. Ascending. */
  steps: readonly { layer: number; share: number }[];
  questionLayers: readonly number[];
}

/** A strategy's shares; undefined when only the prompt's content determines how many tokens it recomputes. */
export function narrowingOf(strategy: Strategy): SelectionSchedule | undefined {
  if (strategy.kind === 'full' || strategy.kind === 'none')
    return { steps: [{ layer: -1, share: strategy.kind === 'full' ? 1 : 0 }], questionLayers: [] };
  if ('adaptive' in strategy) return undefined;
  const questionLayers = 'questionLayers' in strategy ? strategy.questionLayers : [];
  const layers = 'checkLayers' in strategy ? strategy.checkLayers : [-1];
  return {
    steps: layers.map((layer, i) => ({ layer, share: strategy.ratios[i] ?? strategy.ratios[0] })),
    questionLayers,
  };
}

/** The shares that a strategy used, according to the engine's report. */
export function narrowingIn(report: AppendReport): SelectionSchedule {
  const { checks, question, recomputedTokens, reusableTokens } = report;
  const fromStart = { layer: -1, share: reusableTokens > 0 ? recomputedTokens / reusableTokens : 0 };
  return {
    steps: checks.length > 0 ? checks.map(({ layer, ratio }) => ({ layer, share: ratio })) : [fromStart],
    questionLayers: question ? [...question.layers] : [],
  };
}

/** An append's rows in every layer. Selected tokens count as spread evenly over all reusable ones. */
export class Layout {
  readonly tokens: number;
  readonly reusable: number;
  /** First layer that needs stored KV, and the number of such layers. */
  readonly firstLoad: number;
  readonly placed: number;
  readonly questionLayers: readonly number[];
  readonly checks: number;
  /** Tokens that can be attended to. */
  readonly context: number;
  /** `again`: the fresh ones that are computed again after the question's pass. */
  readonly #rows = { fresh: 0, again: 0, reused: 0 };
  readonly #work: Work;
  readonly #sight: AttentionWindows;
  /** By window: layers with the same window see the same tokens. */
  readonly #pairs = new Map<number, { fresh: number; again: number; reused: number }>();
  readonly #steps: SelectionSchedule['steps'];
  /** Index of the first piece whose fresh tokens are computed again. */
  readonly #again: number;

  constructor(work: Work, { steps, questionLayers }: SelectionSchedule, sight: AttentionWindows) {
    const { kvLayers } = sight;
    this.#work = work;
    this.#sight = sight;
    const lastReused = work.pieces.findLastIndex(({ tier }) => tier !== null);
    const looksAll = lastReused >= 0 && questionLayers.at(-1) === kvLayers - 1 && (steps[0]?.layer ?? -1) < 0;
    this.#again = looksAll ? lastReused : 0;
    for (const [i, { tokens, tier }] of work.pieces.entries()) {
      this.#rows[tier === null ? 'fresh' : 'reused'] += tokens;
      if (tier === null && i >= this.#again) this.#rows.again += tokens;
    }
    this.tokens = this.#rows.fresh + this.#rows.reused;
    this.context = work.past + this.tokens;
    this.reusable = this.#rows.reused;
    const reuses = this.reusable > 0;
    this.#steps = reuses ? steps : [];
    this.questionLayers = reuses ? questionLayers : [];
    const first = this.#steps[0]?.layer ?? kvLayers;
    this.firstLoad = this.questionLayers.length > 0 ? 0 : Math.max(0, first);
    this.placed = kvLayers - this.firstLoad;
    this.checks = this.#steps.filter(({ layer }) => layer >= 0).length;
  }

  /** The last layer that computes more than one row: keys and values of all, and itself for the last one. */
  get lastOfAll(): number {
    return this.#sight.kvLayers - 1;
  }

  /** The computation of the prompt's last token alone in a layer. */
  lastIn(layer: number): Rows {
    return { rows: 1, pairs: Math.min(this.#sight.windows[layer] || Infinity, this.context) };
  }

  /** In order. */
  layers(): LayerSteps[] {
    return Array.from({ length: this.#sight.layers }, (_, layer) => {
      if (layer > this.lastOfAll) return { check: null, rows: this.lastIn(layer) };
      const check = this.#steps.some((step) => step.layer === layer);
      return {
        check: check ? this.#rowsIn(layer, this.#shareBehind(layer - 1)) : null,
        rows: this.#rowsIn(layer, this.#shareBehind(layer)),
      };
    });
  }

  /** The computation of the question's separate pass in a layer. */
  freshIn(layer: number): Rows {
    return { rows: this.#rows.fresh, pairs: this.#pairsIn(layer).fresh };
  }

  #shareBehind(layer: number): number {
    return this.#steps.findLast((step) => step.layer <= layer)?.share ?? 1;
  }

  #rowsIn(layer: number, share: number): Rows {
    const pairs = this.#pairsIn(layer);
    return {
      rows: this.#rows.again + share * this.#rows.reused,
      pairs: pairs.again + share * pairs.reused,
    };
  }

  #pairsIn(layer: number): { fresh: number; again: number; reused: number } {
    const window = this.#sight.windows[layer] ?? 0;
    const known = this.#pairs.get(window);
    if (known) return known;
    const sums = { fresh: 0, again: 0, reused: 0 };
    let at = this.#work.past;
    for (const [i, { tokens, tier }] of this.#work.pieces.entries()) {
      const pairs = pairsOf(this.#sight, layer, tokens, at);
      sums[tier === null ? 'fresh' : 'reused'] += pairs;
      if (tier === null && i >= this.#again) sums.again += pairs;
      at += tokens;
    }
    this.#pairs.set(window, sums);
    return sums;
  }
}
