import type { ChartSpec, Series } from '../../viz/chart/layout.ts';
import type { LabelledPart, TokenMapData } from '../../viz/tokens/draw.ts';
import type { Colour } from '../../viz/palette.ts';
import type { Picture } from '../../viz/picture.ts';
import type { GanttWords } from '../../viz/gantt/gantt.ts';
import { STAGE_COLOURS, STAGES } from '../../viz/stages.ts';
import { waterfall } from '../../viz/waterfall.ts';
import type { FusionReport, PromptPart } from '../../../src-shared/fusion-report.ts';
import type { MassCurve } from './mass.ts';
import { outlines, type CheckView, type ReportView } from './model.ts';
import { deviationScale, type DeviationScale, type ScaleKind } from './scale.ts';
import type { Words } from './useWords.ts';

/** Converts the report to the pictures of viz/. */

export function tokenMapData(
  view: ReportView,
  check: CheckView | undefined,
  kind: ScaleKind,
  words: Words,
): { data: TokenMapData; scale: DeviationScale } {
  const scale = deviationScale(check?.check.deviation ?? [], kind);
  const strength = Float32Array.from(check?.deviation ?? view.report.tokens.map(() => NaN), (value) =>
    Number.isNaN(value) ? NaN : scale.strength(value),
  );
  return {
    scale,
    data: {
      tokens: view.report.tokens,
      parts: view.parts.map((part) => labelled(part, view, words)),
      strength,
      outlined: outlines(view, check),
    },
  };
}

export function colourOf({ kind, chunk }: PromptPart): Colour {
  if (kind === 'resident') return 'resident';
  return chunk?.tier ?? 'muted';
}

export function partTitle({ kind, chunk }: PromptPart, { t }: Words): string {
  if (chunk) return t('tokens.part', { title: chunk.title, ordinal: chunk.ordinal + 1 });
  return t(kind === 'resident' ? 'tokens.residentPart' : 'tokens.text');
}

export function originOf({ kind, chunk }: PromptPart, words: Words): string {
  const { t } = words;
  const folder = chunk ? folderOf(chunk, words) : undefined;
  if (folder) return folder.id === '' ? t('origin.ownFolder') : t('origin.folder', { folder: folder.path });
  return t(`origin.${chunk?.tier ?? (kind === 'resident' ? 'resident' : 'text')}`);
}

type CachedAt = Pick<NonNullable<PromptPart['chunk']>, 'tier' | 'folder'>;

/** Where a passage's cache was. With several cache folders, the one of its file is named. */
export function tierName(chunk: CachedAt, words: Words): string {
  const { t } = words;
  const folder = folderOf(chunk, words);
  if (!folder) return t(`chunks.tiers.${chunk.tier}`);
  return folder.id === '' ? t('chunks.ownFolder') : folder.path;
}

/** Undefined if it was no file, or there is only one folder, or the folder has been removed since. */
function folderOf({ folder }: CachedAt, { folders }: Words): Words['folders'][number] | undefined {
  return folders.length > 1 ? folders.find(({ id }) => id === folder) : undefined;
}

function labelled(part: PromptPart, view: ReportView, words: Words): LabelledPart {
  const { t, format } = words;
  const tier = part.chunk ? tierName(part.chunk, words) : originOf(part, words);
  const numbers = { tier, count: part.tokens, formatted: format.number(part.tokens) };
  const fromCache = part.chunk && part.chunk.tier !== 'computed';
  return {
    first: view.firstToken(part),
    count: part.tokens,
    title: partTitle(part, words),
    note: fromCache
      ? t('tokens.partNoteRecomputed', { ...numbers, recomputed: format.number(part.chunk?.recomputed ?? 0) })
      : t('tokens.partNote', numbers),
    colour: colourOf(part),
    quiet: part.chunk === null,
  };
}

export function waterfallPicture({ ttftMs }: FusionReport, { t, format }: Words): Picture {
  return waterfall(
    STAGES.map((stage) => ({
      label: t(`stages:${stage}.name`),
      ms: ttftMs[stage],
      value: format.duration(ttftMs[stage]),
      colour: STAGE_COLOURS[stage],
    })),
  );
}

export const MASS_STEPS = 200;

export function massSpec(curve: MassCurve, { check }: CheckView, { t, share }: Words): ChartSpec {
  const points = curve.points(MASS_STEPS);
  const chosen = check.selected.length / Math.max(1, check.positions.length);
  const percent = (value: number) => share(value);
  return {
    x: { domain: [0, 1], label: t('mass.x'), format: percent },
    y: { domain: [0, 1], label: t('mass.y'), format: percent },
    series: [
      { label: '', colour: 'check', kind: 'area', points: points.filter(({ x }) => x <= chosen) },
      { label: t('mass.curve'), colour: 'check', kind: 'line', points },
      { label: t('mass.even'), colour: 'muted', kind: 'dashed', points: [{ x: 0, y: 0 }, { x: 1, y: 1 }] }, // prettier-ignore
    ],
    rules: [{ x: chosen, label: t('mass.chosen', { ratio: share(chosen) }), colour: 'check' }],
    dots: [{ x: chosen, y: curve.covered(chosen), colour: 'check' }],
    items: points.map(({ x }) => x),
  };
}

/** null if no layer reported deviations. */
export function deviationSpec(report: FusionReport, log: boolean, words: Words): ChartSpec | null {
  const known = report.layers.filter(({ recomputed, stored }) => recomputed ?? stored);
  if (known.length === 0) return null;
  const { t, format, significant } = words;
  const first = known[0]?.layer ?? 0;
  const last = known.at(-1)?.layer ?? 0;
  return {
    x: {
      domain: first === last ? [first - 1, last + 1] : [first, last],
      label: t('layers.x'),
      format: (value) => (Number.isInteger(value) ? format.number(value) : ''),
    },
    y: { log, label: t('layers.y'), format: significant },
    series: [...group('recomputed', 'hkvd', report, words), ...group('stored', 'ram', report, words)].filter(
      ({ points }) => points.length > 0,
    ),
    rules: report.checks.map(({ layer }) => ({
      x: layer,
      label: `${t('layers.check')} ${layer}`,
      colour: 'check',
    })),
    dots: [],
    items: known.map(({ layer }) => layer),
  };
}

function group(
  name: 'recomputed' | 'stored',
  colour: Colour,
  { layers }: FusionReport,
  { t }: Words,
): Series[] {
  const known = layers.flatMap((layer) => {
    const stats = layer[name];
    return stats ? [{ x: layer.layer, ...stats }] : [];
  });
  return [
    {
      label: t(name === 'recomputed' ? 'layers.recomputedP95' : 'layers.storedP95'),
      colour,
      kind: 'band',
      points: known.map(({ x, mean, p95 }) => ({ x, y: Math.max(mean, p95), low: Math.min(mean, p95) })),
    },
    {
      label: t(name === 'recomputed' ? 'layers.recomputedMean' : 'layers.storedMean'),
      colour,
      kind: name === 'recomputed' ? 'line' : 'dashed',
      points: known.map(({ x, mean }) => ({ x, y: mean })),
    },
  ];
}

export function ganttWords({ t, format }: Words): GanttWords {
  return {
    load: t('pipeline.load'),
    compute: t('pipeline.compute'),
    wait: t('pipeline.wait'),
    format: format.duration,
  };
}
