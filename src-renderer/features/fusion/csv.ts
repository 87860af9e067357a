import Papa from 'papaparse';
import { compareTtft } from '../../../src-shared/ttft.ts';
import { STAGES } from '../../viz/stages.ts';
import type { ReportView } from './model.ts';
import type { Words } from './useWords.ts';

type Cell = string | number | boolean | null;

/** Prompt text comes from documents: cells that a spreadsheet would run as a formula are quoted. */
export function csv(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return Papa.unparse({ fields: [...columns], data: rows.map((row) => [...row]) }, { escapeFormulae: true });
}

/** Every token of this turn, with the results of each check. */
export function tokensCsv({ report, lenses, partOf }: ReportView): string {
  const columns = ['position', 'token', 'part', 'document', 'chunk', 'tier'];
  const found = lenses.flatMap(({ measure, check: { layer } }) =>
    measure === 'attention'
      ? ['attention', 'attention_rank', 'attention_selected']
      : ['deviation', 'rank', 'selected'].map((name) => `${name}_layer_${layer}`),
  );
  const rows = report.tokens.map((text, token) => {
    const part = partOf(token);
    const { document = null, ordinal = null, tier = null } = part?.chunk ?? {};
    const seen = lenses.flatMap(({ deviation, rank, selected }) =>
      rank[token] === 0
        ? [null, null, null]
        : [deviation[token] ?? null, rank[token] ?? null, selected[token] === 1],
    );
    return [report.tokensStart + token, text, part?.kind ?? null, document, ordinal, tier, ...seen];
  });
  return csv([...columns, ...found], rows);
}

export function layersCsv({ report }: ReportView): string {
  const times = ['loadStart', 'loadEnd', 'loadBytes', 'placeMs', 'computeStart', 'computeEnd'] as const;
  const stats = ['tokens', 'mean', 'p95'] as const;
  return csv(
    [
      'layer',
      'rows',
      ...times,
      ...stats.map((name) => `recomputed_${name}`),
      ...stats.map((name) => `stored_${name}`),
    ],
    report.layers.map((layer) => [
      layer.layer,
      layer.rows,
      ...times.map((name) => layer[name]),
      ...stats.map((name) => layer.recomputed?.[name] ?? null),
      ...stats.map((name) => layer.stored?.[name] ?? null),
    ]),
  );
}

/** Uses the window's names for stages. */
export function stagesCsv({ report }: ReportView, { t }: Pick<Words, 't'>): string {
  const { ttftMs, fullPrefillMs, fullPrefillMeasured } = report;
  return csv(
    ['stage', 'name', 'ms'],
    [
      ...STAGES.map((stage) => [stage, t(`stages:${stage}.name`), ttftMs[stage]]),
      ['total', t('waterfall.total'), ttftMs.total],
      [
        fullPrefillMeasured ? 'full_prefill_measured' : 'full_prefill_estimated',
        t(fullPrefillMeasured ? 'summary.measured' : 'summary.estimated'),
        fullPrefillMs,
      ],
      ['total_with_full_prefill', t('summary.fullPrefill'), compareTtft(report)?.fullTtftMs ?? null],
    ],
  );
}

export function checksCsv({ report }: ReportView): string {
  return csv(
    ['layer', 'ratio', 'looked_at', 'selected', 'mass_covered', 'rank_correlation_with_next'],
    report.checks.map(({ layer, ratio, positions, selected, massCovered }, i) => [
      layer,
      ratio,
      positions.length,
      selected.length,
      massCovered,
      report.rankCorrelation[i] ?? null,
    ]),
  );
}

export function chunksCsv({ report }: ReportView): string {
  return csv(
    ['kind', 'start', 'tokens', 'document', 'title', 'chunk', 'tier', 'bytes', 'reused', 'recomputed'],
    report.parts.map(({ kind, start, tokens, chunk }) => [
      kind,
      start,
      tokens,
      chunk?.document ?? null,
      chunk?.title ?? null,
      chunk?.ordinal ?? null,
      chunk?.tier ?? null,
      chunk?.bytes ?? null,
      chunk?.reusedTokens ?? null,
      chunk?.recomputed ?? null,
    ]),
  );
}
