import type { PromptPart } from '../../../src-shared/fusion-report.ts';
import { TipRows } from '../../viz/Tip.tsx';
import { visible } from '../../viz/tokens/layout.ts';
import type { CheckView, ReportView } from './model.ts';
import { originOf, partTitle } from './pictures.ts';
import type { Words } from './useWords.ts';

/** All details about a token. */
export function TokenNote({ view, token, words }: { view: ReportView; token: number; words: Words }) {
  const { t, format, significant } = words;
  const { report, lenses, partOf } = view;
  const part = partOf(token);
  const seen = lenses.filter(({ rank }) => (rank[token] ?? 0) > 0);
  const rows: [string, string][] = [[t('tokens.position'), format.number(report.tokensStart + token)]];
  if (part)
    rows.push([t('chunks.passage'), partTitle(part, words)], [t('tokens.origin'), originOf(part, words)]);
  for (const { measure, check, deviation, rank } of seen) {
    const place = { rank: format.number(rank[token] ?? 0), count: format.number(check.positions.length) };
    rows.push([
      measure === 'attention' ? t('tokens.attention') : t('tokens.deviationAt', { layer: check.layer }),
      `${significant(deviation[token] ?? 0)} · ${t('tokens.rankOf', { rank: place.rank, all: place.count })}`,
    ]);
  }
  rows.push([t('chunks.recomputed'), fateOf(view, token, words)]);
  return <TipRows title={`“${visible(report.tokens[token] ?? '')}”`} rows={rows} />;
}

/** Whether a token was recomputed, and which check decided that. */
function fateOf(view: ReportView, token: number, words: Words): string {
  const { t } = words;
  const { report, checks, recomputed, partOf } = view;
  const part = partOf(token);
  if (part && isComputed(part, report.tokensStart + token)) return t('tokens.computedAlways');
  const seen = checks.filter(({ rank }) => (rank[token] ?? 0) > 0);
  const last = seen.at(-1);
  if (recomputed && !last) return t(recomputed[token] === 1 ? 'tokens.yes' : 'tokens.no');
  if (!last) return t('tokens.notCompared');
  if (last.selected[token] !== 1) return t('tokens.dropped', { layer: last.check.layer });
  const layers = seen.map(({ check }) => check.layer).join(', ');
  return t('tokens.keptAfter', { layers, count: seen.length });
}

/** Whether a token was computed because it was not cached. */
function isComputed({ kind, chunk }: PromptPart, position: number): boolean {
  if (kind === 'resident') return false;
  if (chunk === null || chunk.tier === 'computed') return true;
  const isIn = ({ start, tokens }: { start: number; tokens: number }): boolean =>
    position >= start && position < start + tokens;
  return chunk.runs !== undefined && !chunk.runs.some(isIn);
}

/** The note as one sentence. */
export function tokenSentence(
  view: ReportView,
  check: CheckView | undefined,
  token: number,
  words: Words,
): string {
  const { t, format, significant } = words;
  const { report, partOf } = view;
  const part = partOf(token);
  const where = t('tokens.spoken', {
    text: visible(report.tokens[token] ?? ''),
    position: format.number(report.tokensStart + token),
    part: part ? partTitle(part, words) : '',
  });
  if (!check || (check.rank[token] ?? 0) === 0) return where;
  const found = t(check.measure === 'attention' ? 'tokens.spokenAttention' : 'tokens.spokenDeviation', {
    deviation: significant(check.deviation[token] ?? 0),
    rank: format.number(check.rank[token] ?? 0),
    fate: fateOf(view, token, words),
  });
  return `${where} ${found}`;
}
