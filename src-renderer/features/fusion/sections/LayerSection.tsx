import { useMemo, useState } from 'react';
import type { DeviationStats, FusionLayer } from '../../../../src-shared/fusion-report.ts';
import { chart } from '../../../viz/chart/chart.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { PictureView } from '../../../viz/PictureView.tsx';
import { ScaleSwitch } from '../ScaleSwitch.tsx';
import * as captions from '../captions.ts';
import { deviationSpec } from '../pictures.ts';
import type { ScaleKind } from '../scale.ts';
import { Section } from '../Section.tsx';
import type { Words } from '../useWords.ts';
import type { SectionData } from './section-props.ts';

/** Mean and 95th percentile of the deviation in every layer, for recomputed tokens and for those left as stored. */
export function LayerSection({ view: { report }, words, exports }: SectionData) {
  const { t } = words;
  const [scale, setScale] = useState<ScaleKind>('linear');
  const spec = useMemo(() => deviationSpec(report, scale === 'log', words), [report, scale, words]);
  const picture = useMemo(() => spec && chart(spec), [spec]);
  const lead = captions.layers(report, words);
  if (!spec || !picture) return <Section name="layers" title={t('layers.title')} lead={lead} />;
  const layerAt = (item: number) => report.layers.find(({ layer }) => layer === spec.items[item]);
  return (
    <Section
      name="layers"
      title={t('layers.title')}
      lead={lead}
      table={<LayerTable layers={report.layers} words={words} />}
      onPng={() => exports.png('layers')}
      onCsv={() => exports.csv('layers')}
    >
      <ScaleSwitch kind={scale} onChange={setScale} words={words} />
      <PictureView
        picture={picture}
        label={t('layers.title')}
        note={(item) => {
          const layer = layerAt(item);
          return (
            layer && { title: t('layers.layerName', { layer: layer.layer }), rows: rowsOf(layer, words) }
          );
        }}
      />
    </Section>
  );
}

function rowsOf(layer: FusionLayer, { t, format, significant }: Words): [string, string][] {
  const group = (name: 'recomputed' | 'stored'): [string, string][] => {
    const stats = layer[name];
    if (!stats) return [];
    const words = { group: t(`layers.${name}`) };
    return [
      [t('layers.mean', words), significant(stats.mean)],
      [t('layers.p95', words), significant(stats.p95)],
      [t('layers.tokens', words), format.number(stats.tokens)],
    ];
  };
  return [[t('layers.rows'), format.number(layer.rows)], ...group('recomputed'), ...group('stored')];
}

function LayerTable({ layers, words }: { layers: readonly FusionLayer[]; words: Words }) {
  const { t, format, significant } = words;
  const columns = (['recomputed', 'stored'] as const).flatMap((name) =>
    (['mean', 'p95'] as const).map((value) => ({
      name: t(`layers.${value}`, { group: t(`layers.${name}`) }),
      numeric: true,
    })),
  );
  const numbers = (stats: DeviationStats | null) =>
    stats ? [significant(stats.mean), significant(stats.p95)] : ['', ''];
  return (
    <DataTable
      label={t('layers.title')}
      columns={[
        { name: t('layers.layer'), numeric: true },
        { name: t('layers.rows'), numeric: true },
        ...columns,
      ]}
      rows={layers.length}
      cells={(row) => {
        const layer = layers[row];
        if (!layer) return [];
        return [
          String(layer.layer),
          format.number(layer.rows),
          ...numbers(layer.recomputed),
          ...numbers(layer.stored),
        ];
      }}
    />
  );
}
