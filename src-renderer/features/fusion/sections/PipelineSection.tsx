import { Group } from '@mantine/core';
import { useMemo } from 'react';
import type { FusionLayer } from '../../../../src-shared/fusion-report.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { GanttView } from '../../../viz/gantt/GanttView.tsx';
import { waitOf, wholeView } from '../../../viz/gantt/layout.ts';
import type { ItemNote } from '../../../viz/Tip.tsx';
import { useSpan } from '../../../viz/useSpan.ts';
import { ZoomButtons } from '../../../viz/ZoomButtons.tsx';
import { Keys } from '../Keys.tsx';
import * as captions from '../captions.ts';
import { ganttWords } from '../pictures.ts';
import { Section } from '../Section.tsx';
import type { Words } from '../useWords.ts';
import type { SectionData } from './section-props.ts';

/** Loading and computing of every layer over time. */
export function PipelineSection({ view: { report }, words, exports }: SectionData) {
  const { t } = words;
  const { layers } = report;
  const time = useSpan(useMemo(() => wholeView(layers), [layers]));
  const gantt = useMemo(() => ganttWords(words), [words]);
  const lead = captions.pipeline(layers, words);
  if (layers.length === 0) return <Section name="pipeline" title={t('pipeline.title')} lead={lead} wide />;
  return (
    <Section
      name="pipeline"
      title={t('pipeline.title')}
      lead={lead}
      wide
      table={<PipelineTable layers={layers} words={words} />}
      onPng={() => exports.png('pipeline')}
      onCsv={() => exports.csv('layers')}
    >
      <Group justify="space-between" gap="xs">
        <Keys text={t('pipeline.keys')} />
        <ZoomButtons control={time} />
      </Group>
      <GanttView
        layers={layers}
        time={time}
        words={gantt}
        label={t('pipeline.label')}
        note={(row) => {
          const layer = layers[row];
          return layer && noteOf(layer, waitOf(layers, row), words);
        }}
        speak={(row) => {
          const layer = layers[row];
          return layer ? spoken(layer, words) : '';
        }}
      />
    </Section>
  );
}

function spoken(
  { layer, loadStart, loadEnd, computeStart, computeEnd, rows }: FusionLayer,
  { t, format }: Words,
) {
  return t('pipeline.spoken', {
    layer,
    load: format.duration(loadEnd - loadStart),
    compute: format.duration(computeEnd - computeStart),
    rows: format.number(rows),
  });
}

function noteOf(layer: FusionLayer, wait: ReturnType<typeof waitOf>, { t, format }: Words): ItemNote {
  const span = (start: number, end: number) =>
    t('pipeline.start', { ms: format.duration(end - start), start: format.duration(start) });
  const rows: [string, string][] = [[t('layers.rows'), format.number(layer.rows)]];
  if (layer.loadEnd > layer.loadStart)
    rows.push(
      [t('stages:load.name'), span(layer.loadStart, layer.loadEnd)],
      [t('pipeline.loaded'), format.bytes(layer.loadBytes)],
      [t('stages:place.name'), format.duration(layer.placeMs)],
    );
  rows.push([t('stages:recompute.name'), span(layer.computeStart, layer.computeEnd)]);
  if (wait) rows.push([t('stages:wait.name'), format.duration(wait.end - wait.start)]);
  return { title: t('layers.layerName', { layer: layer.layer }), rows };
}

function PipelineTable({ layers, words: { t, format } }: { layers: readonly FusionLayer[]; words: Words }) {
  const names = [
    'pipeline.layer',
    'layers.rows',
    'stages:load.name',
    'pipeline.loaded',
    'stages:place.name',
    'stages:recompute.name',
    'stages:wait.name',
  ] as const;
  return (
    <DataTable
      label={t('pipeline.title')}
      columns={names.map((name) => ({ name: t(name), numeric: true }))}
      rows={layers.length}
      cells={(row) => {
        const layer = layers[row];
        if (!layer) return [];
        const wait = waitOf(layers, row);
        return [
          String(layer.layer),
          format.number(layer.rows),
          format.duration(layer.loadEnd - layer.loadStart),
          format.bytes(layer.loadBytes),
          format.duration(layer.placeMs),
          format.duration(layer.computeEnd - layer.computeStart),
          wait ? format.duration(wait.end - wait.start) : '',
        ];
      }}
    />
  );
}
