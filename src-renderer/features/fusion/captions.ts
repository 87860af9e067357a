import type { FusionLayer, FusionPlan, FusionReport } from '../../../src-shared/fusion-report.ts';
import { compareTtft, wasFullPrefill } from '../../../src-shared/ttft.ts';
import { compositionOf, HEAD_TOKENS, headsAgainstRest, type CheckView, type ReportView } from './model.ts';
import { longestStage, pipelineSums } from './stages.ts';
import { strategyName } from './strategy-name.ts';
import type { Words } from './useWords.ts';
import { joinSentences } from '../../i18n/join-sentences.ts';

/** Captions of the pictures, one or two sentences each: shown above them, announced by screen readers, and written into exported files. */

export function summary(report: FusionReport, { t, format, share }: Words): string {
  const { promptTokens, prefixTokens, reusedTokens, recomputedTokens, strategy } = report;
  const { computed } = compositionOf(report);
  const kept = report.residentTokens - prefixTokens;
  const numbers = {
    reused: format.number(reusedTokens),
    recomputed: format.number(recomputedTokens),
    share: share(recomputedTokens / Math.max(1, reusedTokens)),
  };
  const sentences = [t('sentence.prompt', { count: promptTokens, formatted: format.number(promptTokens) })];
  if (isCheckpoint(report)) sentences.push(checkpoint(report, t, format.number));
  else {
    if (prefixTokens > 0) sentences.push(prefix(report, t, format.number));
    if (kept > 0) sentences.push(t('sentence.resident', { tokens: format.number(kept) }));
  }
  if (strategy.name === 'full') sentences.push(t('sentence.full'));
  else if (reusedTokens === 0) sentences.push(t('sentence.noCache'));
  else {
    sentences.push(t(REUSED[strategy.name], numbers));
    if (computed > 0) sentences.push(t('sentence.computed', { computed: format.number(computed) }));
  }
  if (report.drafts) {
    const { drafted, accepted } = report.drafts;
    sentences.push(
      t('sentence.drafts', { drafted: format.number(drafted), accepted: format.number(accepted) }),
    );
  }
  return joinSentences(sentences);
}

/** Whether the model could continue only from a checkpoint of its state, and did. */
function isCheckpoint({ plan: made, residentTokens }: FusionReport): boolean {
  return made?.obstacle === 'running-state' && residentTokens > 0;
}

function checkpoint(
  { residentTokens, restoredTokens }: FusionReport,
  t: Words['t'],
  number: (n: number) => string,
): string {
  const key = restoredTokens === residentTokens ? 'sentence.checkpointStored' : 'sentence.checkpoint';
  return t(key, { tokens: number(residentTokens) });
}

/** The prefix that was reused: all of it stored before this start, some of it, or none. */
function prefix(
  { prefixTokens, restoredTokens }: FusionReport,
  t: Words['t'],
  number: (n: number) => string,
): string {
  const tokens = number(prefixTokens);
  if (restoredTokens === 0) return t('sentence.prefix', { tokens });
  return restoredTokens === prefixTokens
    ? t('sentence.restored', { tokens })
    : t('sentence.restoredPart', { tokens, restored: number(restoredTokens) });
}

const REUSED = {
  deviation: 'sentence.reusedDeviation',
  query: 'sentence.reusedQuery',
  none: 'sentence.reusedNone',
} as const;

/** The plan and its prediction, and the actual time. */
export function plan(made: FusionPlan, model: string, words: Words): string {
  const { t, format } = words;
  const { wish, strategy, tier, cheapestTier, computedInstead, predictedTtftMs, outcomeMs } = made;
  const what = strategyName(strategy, words);
  const from = tier === null ? what : t('plan.from', { what, tier: t(`plan.tier.${tier}`) });
  const took = format.duration(outcomeMs);
  const sentences = [
    t(wish === 'auto' ? 'plan.chosen' : 'plan.planned', { what: from }),
    predictedTtftMs === null
      ? t('plan.unexpected', { took })
      : t('plan.expected', { took, expected: format.duration(predictedTtftMs.total) }),
  ];
  if (made.obstacle) sentences.push(t(`common:notBlended.${made.obstacle}`, { name: model }));
  if (made.reason !== 'asked' && made.reason !== 'not-blended')
    sentences.push(t(`plan.reason.${made.reason}`));
  if (computedInstead > 0) sentences.push(t('plan.computedInstead', { count: computedInstead }));
  if (tier === 'ram' && cheapestTier === 'disk') sentences.push(t('plan.cheaper'));
  return joinSentences(sentences);
}

export function comparison(report: FusionReport, { t, format }: Words): string {
  if (wasFullPrefill(report)) return t('summary.isFull');
  const beside = compareTtft(report);
  if (!beside) return t('summary.unknown');
  const { times, verdict } = beside;
  if (verdict === 'same') return t('summary.same');
  return verdict === 'sooner'
    ? t('summary.soonerBy', { times: format.number(times, 1) })
    : t('summary.laterBy', { times: format.number(1 / times, 1) });
}

export function waterfall({ ttftMs }: FusionReport, { t, format, share }: Words): string {
  const stage = longestStage(ttftMs);
  return t('waterfall.lead', {
    total: format.duration(ttftMs.total),
    stage: t(`stages:${stage}.name`),
    ms: format.duration(ttftMs[stage]),
    share: share(ttftMs[stage] / Math.max(1e-9, ttftMs.total)),
  });
}

export function pipeline(layers: readonly FusionLayer[], { t, format, share }: Words): string {
  if (layers.length === 0) return t('pipeline.none');
  const { compute, wait, hidden } = pipelineSums(layers);
  if (hidden === null) return t('pipeline.leadNoLoad', { compute: format.duration(compute) });
  return t('pipeline.lead', { hidden: share(hidden), wait: format.duration(wait) });
}

export function tokens(view: ReportView, check: CheckView | undefined, words: Words): string {
  const { t, format } = words;
  const { report } = view;
  if (report.tokens.length === 0) return t('tokens.empty');
  const sentences: string[] = [];
  if (check) {
    const key = check.measure === 'attention' ? 'tokens.leadAttention' : 'tokens.lead';
    sentences.push(t(key, { layer: check.check.layer }));
  } else sentences.push(t(NOTHING_COMPARED[report.strategy.name] ?? 'tokens.leadOther'));
  const compared = check?.measure === 'deviation' && headsAgainstRest(view, check);
  if (compared && compared.head > 1.5 * compared.rest) {
    const times = format.number(compared.head / compared.rest, 1);
    sentences.push(t('tokens.leadHeads', { count: HEAD_TOKENS, times }));
  }
  const { prefixTokens } = report;
  const kept = report.residentTokens - prefixTokens;
  const counted = (count: number) => ({ count, formatted: format.number(count) });
  if (prefixTokens > 0) sentences.push(t('tokens.prefix', counted(prefixTokens)));
  if (kept > 0) sentences.push(t('tokens.resident', counted(kept)));
  return joinSentences(sentences);
}

const NOTHING_COMPARED: Partial<Record<string, 'tokens.leadNone' | 'tokens.leadFull'>> = {
  none: 'tokens.leadNone',
  full: 'tokens.leadFull',
};

export function mass(
  { measure, check: { layer, positions, selected, massCovered } }: CheckView,
  { t, format, share }: Words,
): string {
  return t(measure === 'attention' ? 'mass.leadAttention' : 'mass.lead', {
    layer,
    ratio: share(selected.length / Math.max(1, positions.length)),
    selected: format.number(selected.length),
    all: format.number(positions.length),
    covered: share(massCovered),
  });
}

/** Why there is no selection to show. */
export function noMass({ strategy, reusedTokens }: FusionReport, { t }: Words): string {
  if (strategy.name === 'full') return t('mass.full');
  if (reusedTokens === 0) return t('mass.noChunks');
  return t('mass.none');
}

export function layers(report: FusionReport, { t }: Words): string {
  const known = report.layers.some(({ recomputed, stored }) => recomputed ?? stored);
  if (known) return t('layers.lead', { layer: report.checks.at(-1)?.layer ?? 0 });
  if (report.strategy.name === 'full' || report.reusedTokens === 0) return t('layers.full');
  return t(report.checks.length === 0 ? 'layers.none' : 'layers.missing');
}
