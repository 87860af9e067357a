import { descending, mean, sum } from 'd3-array';
import type { FusionCheck, FusionReport, PromptPart } from '../../../src-shared/fusion-report.ts';

/**
 * A check with its results by token. Token indices count from the report's first text, `tokensStart`. The question's
 * attention has the same form, with weights in place of deviations.
 */
export interface CheckView {
  measure: 'deviation' | 'attention';
  check: FusionCheck;
  /** NaN if not compared. */
  deviation: Float64Array;
  /** 1 for the largest deviation; 0 if not compared. */
  rank: Int32Array;
  /** 1 if kept for recomputing. */
  selected: Uint8Array;
}

/** The report, indexed for rendering. */
export interface ReportView {
  report: FusionReport;
  checks: CheckView[];
  /** Everything that can shade tokens: the checks, then the question's attention if available. */
  lenses: CheckView[];
  /** By token: 1 if it came from the cache and was recomputed; null if this was not recorded. */
  recomputed: Uint8Array | null;
  /** Parts with text, in order; resident tokens have none. */
  parts: PromptPart[];
  /** Index of a part's first token, counting only tokens with text. */
  firstToken: (part: PromptPart) => number;
  /** The part of a token. */
  partOf: (token: number) => PromptPart | undefined;
}

export function viewOf(report: FusionReport): ReportView {
  const { tokensStart, tokens } = report;
  const parts = report.parts.filter(
    ({ start, tokens: count }) => start >= tokensStart && count > 0 && start < tokensStart + tokens.length,
  );
  const owner = new Int32Array(tokens.length).fill(-1);
  for (const [i, { start, tokens: count }] of parts.entries())
    owner.fill(i, start - tokensStart, start - tokensStart + count);
  const checks = report.checks.map((check) => checkView('deviation', check, tokensStart, tokens.length));
  const attention = attentionCheck(report);
  const selected = report.selected ?? report.checks.at(-1)?.selected;
  return {
    report,
    parts,
    checks,
    lenses: attention ? [...checks, checkView('attention', attention, tokensStart, tokens.length)] : checks,
    recomputed: selected ? flags(selected, tokensStart, tokens.length) : null,
    firstToken: ({ start }) => start - tokensStart,
    partOf: (token) => parts[owner[token] ?? -1],
  };
}

function attentionCheck({ attention, selected = [], strategy }: FusionReport): FusionCheck | null {
  if (!attention) return null;
  const { layers, positions, weights } = attention;
  const chosen = new Set(selected);
  const held = sum(weights, (weight, i) => (chosen.has(positions[i] ?? -1) ? weight : 0));
  const all = sum(weights);
  return {
    layer: layers.at(-1) ?? 0,
    ratio: strategy.ratio,
    positions,
    deviation: weights,
    selected: positions.filter((position) => chosen.has(position)),
    massCovered: all > 0 ? held / all : 0,
  };
}

function flags(positions: readonly number[], start: number, tokens: number): Uint8Array {
  const flags = new Uint8Array(tokens);
  for (const position of positions)
    if (position >= start && position < start + tokens) flags[position - start] = 1;
  return flags;
}

function checkView(
  measure: CheckView['measure'],
  check: FusionCheck,
  start: number,
  tokens: number,
): CheckView {
  const view: CheckView = {
    measure,
    check,
    deviation: new Float64Array(tokens).fill(NaN),
    rank: new Int32Array(tokens),
    selected: flags(check.selected, start, tokens),
  };
  const order = check.positions.map((_, i) => i);
  order.sort((a, b) => descending(check.deviation[a], check.deviation[b]) || a - b);
  for (const [rank, i] of order.entries()) {
    const token = (check.positions[i] ?? -1) - start;
    if (token < 0 || token >= tokens) continue;
    view.deviation[token] = check.deviation[i] ?? NaN;
    view.rank[token] = rank + 1;
  }
  return view;
}

/** By token: 1 if it was recomputed, 2 if this check selected it but a later one dropped it. */
export function outlines({ recomputed, report }: ReportView, check: CheckView | undefined): Uint8Array {
  return Uint8Array.from(report.tokens, (_, token) =>
    recomputed?.[token] === 1 ? 1 : check?.selected[token] === 1 ? 2 : 0,
  );
}

/** How the prompt was obtained, in tokens; the parts sum to the prompt's length. */
export interface Composition {
  resident: number;
  /** Taken from the cache as stored. */
  reused: number;
  /** Taken from the cache, then recomputed. */
  recomputed: number;
  computed: number;
}

export function compositionOf(report: FusionReport): Composition {
  const { promptTokens, residentTokens: resident, reusedTokens, recomputedTokens: recomputed } = report;
  return {
    resident,
    reused: Math.max(0, reusedTokens - recomputed),
    recomputed,
    computed: Math.max(0, promptTokens - resident - reusedTokens),
  };
}

/** Mean deviation of the first `edge` tokens of each passage, against the rest. */
interface EdgeDeviation {
  head: number;
  rest: number;
}

export const HEAD_TOKENS = 16;

/** Whether the starts of passages deviate more; null if there is nothing to compare. */
export function headsAgainstRest(
  { parts, firstToken }: ReportView,
  { deviation }: CheckView,
): EdgeDeviation | null {
  const [heads, rests]: [number[], number[]] = [[], []];
  for (const part of parts.filter(({ kind }) => kind === 'chunk')) {
    const first = firstToken(part);
    for (let i = 0; i < part.tokens; i++) {
      const value = deviation[first + i] ?? NaN;
      if (!Number.isNaN(value)) (i < HEAD_TOKENS ? heads : rests).push(value);
    }
  }
  const [head, rest] = [mean(heads), mean(rests)];
  return head === undefined || rest === undefined || rest <= 0 ? null : { head, rest };
}
