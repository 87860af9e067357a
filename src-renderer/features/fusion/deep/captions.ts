import { mean, least } from 'd3-array';
import type { Comparison, DeepPrompt } from '../../../../src-shared/comparison.ts';
import { DEFAULT_RATIO } from '../../../../src-shared/strategy.ts';
import { visible } from '../../../viz/tokens/layout.ts';
import { nameOf } from '../compare/methods.ts';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import type { Words } from '../useWords.ts';
import {
  attentionFacts,
  blendOf,
  concentrationOf,
  coveredAt,
  heatFacts,
  HEAD_TOKENS,
  rankPairs,
  ratioCovering,
  type DeepMethod,
} from './model.ts';
import type { Grid } from '../../../viz/heat/layout.ts';
import { meanAttention } from './pictures.ts';

/** Captions of the pictures of a deep comparison. */

export function heatLead(method: DeepMethod, grid: Grid, prompt: DeepPrompt, words: Words): string {
  const { t, share, significant, format } = words;
  const name = nameOf(method, words);
  const facts = heatFacts(grid, prompt.parts);
  if (!facts) return t('compare:heat.nothing', { name });
  const { headShare, headTokens, strongest } = facts;
  return joinSentences([
    t('compare:heat.lead', { name }),
    t('compare:heat.heads', { count: HEAD_TOKENS, tokens: share(headTokens), held: share(headShare) }),
    t('compare:heat.strongest', {
      token: visible(prompt.tokens[strongest.position] ?? ''),
      position: format.number(strongest.position),
      layer: strongest.layer,
      value: significant(strongest.value),
    }),
  ]);
}

export function attentionLead(base: DeepMethod, comparison: Comparison, words: Words): string {
  const { t, significant, share } = words;
  const before = attentionFacts(base);
  const first = t('compare:attention.lead', {
    name: nameOf(base, words),
    mean: significant(before.mean),
    layer: before.worstLayer,
    worst: significant(before.worst),
  });
  const blend = blendOf(comparison);
  if (!blend || blend === base || before.mean <= 0) return first;
  const after = attentionFacts(blend).mean;
  const numbers = {
    name: nameOf(blend, words),
    mean: significant(after),
    share: share(Math.abs(1 - after / before.mean)),
  };
  return joinSentences([
    first,
    t(after <= before.mean ? 'compare:attention.less' : 'compare:attention.more', numbers),
  ]);
}

export function concentrationLead(base: DeepMethod, ratio: number | null, { t, share }: Words): string {
  const points = concentrationOf(base);
  if (points.length === 0) return t('compare:concentration.nothing');
  return joinSentences([
    t('compare:concentration.half', { ratio: share(ratioCovering(points, 0.5)) }),
    ...(ratio === null
      ? []
      : [t('compare:concentration.own', { ratio: share(ratio), covered: share(coveredAt(points, ratio)) })]),
  ]);
}

export function rankLead(base: DeepMethod, { t, format }: Words): string {
  const pairs = rankPairs(base);
  const lowest = least(pairs, ({ value }) => value);
  const average = mean(pairs, ({ value }) => value);
  if (!lowest || average === undefined) return t('compare:rank.nothing');
  return t(average > 0.9 ? 'compare:rank.high' : average > 0.7 ? 'compare:rank.middle' : 'compare:rank.low', {
    mean: format.number(average, 2),
    lowest: format.number(lowest.value, 2),
    from: lowest.layer,
    to: lowest.layer + 1,
  });
}

/** From no recomputing to the ratio nearest the answer's own, and on to the largest. */
export function sweepLead(
  { sweep: { points } }: DeepPrompt,
  ratio: number | null,
  { t, share, significant }: Words,
): string {
  const [first, last] = [points[0], points.at(-1)];
  const near = least(points.slice(1), (point) => Math.abs(point.ratio - (ratio ?? DEFAULT_RATIO)));
  if (!first || !last || !near) return t('compare:sweep.nothing');
  const change = (to: { attention: readonly number[] }) => significant(meanAttention(to));
  const sentences = [
    t('compare:sweep.lead', {
      ratio: share(near.ratio),
      before: change(first),
      after: change(near),
      klBefore: significant(first.kl),
      klAfter: significant(near.kl),
    }),
  ];
  if (last !== near)
    sentences.push(
      t('compare:sweep.on', { ratio: share(last.ratio), after: change(last), klAfter: significant(last.kl) }),
    );
  return joinSentences(sentences);
}
