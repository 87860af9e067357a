import type { AppendReport, Strategy } from '../../engine/engine.ts';

/** Where a piece's KV comes from: 'ram', or the name of a tier that is loaded from, such as 'disk'. */
export type Tier = string;

/** A run of tokens, in order: from a tier, or computed (null). */
export interface Piece {
  tokens: number;
  tier: Tier | null;
  /** Bytes of its stored KV, all layers together. */
  bytes: number;
  /** Pieces that have it in common stand in one chunk: what is cached of it is used together, or not at all. */
  chunk?: number;
}

/** What an append has to do: `past` tokens are there already. */
export interface Work {
  past: number;
  pieces: readonly Piece[];
}

/** Rows that a layer computes, and pairs of such a row and a token that it attends to. */
export interface Rows {
  rows: number;
  pairs: number;
}

/** One layer's computing: keys and values of some rows, then the layer for what remains of them. */
interface LayerSteps {
  /** A check: keys and values only, and tokens are selected. */
  check: Rows | null;
  /** The layer itself; in the last one only keys and values (unless a check had them), and one row. */
  rows: Rows;
}

/** Shares of the reusable tokens that a strategy recomputes, and the layers from which on. */
interface Narrowing {
  /** Layer after whose check the share holds; -1: from the start. Ascending. */
  steps: readonly { layer: number; share: number }[];
  questionLayers: readonly number[];
}

/** What a strategy does by itself; undefined when only the prompt's content tells how many tokens it takes. */
export function narrowingOf(strategy: Strategy): Narrowing | undefined {
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

/** What a strategy did, by the engine's account. */
export function narrowingIn(report: AppendReport): Narrowing {
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
  /** Layer from which on stored KV is needed; the number of layers when none is. */
  readonly firstLoad: number;
  /** What the question's own pass computes in each of its layers. */
  readonly fresh: Rows;
  readonly questionLayers: readonly number[];
  readonly checks: number;
  /** Tokens that can be attended to. */
  readonly context: number;
  readonly #reused: Rows;
  readonly #steps: Narrowing['steps'];
  readonly #layers: number;

  constructor(work: Work, { steps, questionLayers }: Narrowing, layers: number) {
    let at = work.past;
    const sums = { fresh: { rows: 0, pairs: 0 }, reused: { rows: 0, pairs: 0 } };
    for (const { tokens, tier } of work.pieces) {
      const part = tier === null ? sums.fresh : sums.reused;
      part.rows += tokens;
      part.pairs += tokens * at + (tokens * (tokens + 1)) / 2;
      at += tokens;
    }
    this.context = at;
    this.tokens = at - work.past;
    this.fresh = sums.fresh;
    this.#reused = sums.reused;
    this.reusable = sums.reused.rows;
    const reuses = this.reusable > 0;
    this.#steps = reuses ? steps : [];
    this.#layers = layers;
    this.questionLayers = reuses ? questionLayers : [];
    const first = this.#steps[0]?.layer ?? layers;
    this.firstLoad = this.questionLayers.length > 0 ? 0 : Math.max(0, first);
    this.checks = this.#steps.filter(({ layer }) => layer >= 0).length;
  }

  /** In order. */
  layers(): LayerSteps[] {
    return Array.from({ length: this.#layers }, (_, layer) => {
      const check = this.#steps.some((step) => step.layer === layer);
      return { check: check ? this.#rowsBehind(layer - 1) : null, rows: this.#rowsBehind(layer) };
    });
  }

  #rowsBehind(layer: number): Rows {
    const share = this.#steps.findLast((step) => step.layer <= layer)?.share ?? 1;
    const reused = this.#reused;
    return { rows: this.fresh.rows + share * reused.rows, pairs: this.fresh.pairs + share * reused.pairs };
  }
}
