import { Group, SegmentedControl, Select } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Comparison, DeepPrompt } from '../../../../src-shared/comparison.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { heat } from '../../../viz/heat/heat.ts';
import { HeatView } from '../../../viz/heat/HeatView.tsx';
import type { Grid } from '../../../viz/heat/layout.ts';
import { visible } from '../../../viz/tokens/layout.ts';
import { useSpan } from '../../../viz/useSpan.ts';
import { ZoomButtons } from '../../../viz/ZoomButtons.tsx';
import { nameOf } from '../compare/methods.ts';
import classes from '../legend.module.css';
import { Keys } from '../Keys.tsx';
import { setScale, usePanelState } from '../panel-state.ts';
import { ScaleLegend, ScaleSwitch } from '../ScaleSwitch.tsx';
import { Section } from '../Section.tsx';
import type { Files } from '../useFiles.ts';
import type { Words } from '../useWords.ts';
import { heatCsv } from './csv.ts';
import { heatLead } from './captions.ts';
import { deepMethods, gridOf, type DeepMethod, type MatrixName } from './model.ts';
import { heatData } from './pictures.ts';

interface HeatSectionProps {
  comparison: Comparison;
  prompt: DeepPrompt;
  /** The method shown first. */
  first: DeepMethod;
  words: Words;
  files: Files;
}

/** Layers × tokens: how far every token's values or keys deviate from the full prefill's. */
export function HeatSection({ comparison, prompt, first, words, files }: HeatSectionProps) {
  const methods = useMemo(() => deepMethods(comparison), [comparison]);
  const [index, setIndex] = useState(methods.indexOf(first));
  const [matrix, setMatrix] = useState<MatrixName>('v');
  const method = methods[index] ?? first;
  const { t, format, significant } = words;
  const kind = usePanelState((state) => state.scale);
  const grid = useMemo(() => gridOf(method, matrix), [method, matrix]);
  const { data, scale } = useMemo(() => heatData(grid, prompt, kind), [grid, prompt, kind]);
  const whole = useMemo(() => ({ start: 0, end: Math.max(1, grid.columns) }), [grid.columns]);
  const span = useSpan(whole);
  const lead = heatLead(method, grid, prompt, words);
  return (
    <Section
      name="heat"
      title={t('compare:heat.title')}
      lead={lead}
      wide
      table={<HeatTable grid={grid} prompt={prompt} words={words} />}
      onPng={() =>
        files.png('heat', [
          { title: t('compare:heat.title'), caption: lead, picture: heat(data, whole, format.number) },
        ])
      }
      onCsv={() => files.csv(`heat-${matrix}`, heatCsv(grid, prompt))}
    >
      <div className={classes.controls}>
        <HeatChoices
          methods={methods}
          index={index}
          matrix={matrix}
          onIndex={setIndex}
          onMatrix={setMatrix}
          words={words}
        />
        <ZoomButtons control={span} />
      </div>
      <div className={classes.legend}>
        <ScaleLegend scale={scale} words={words} />
        <LegendParts
          words={words}
          computed={prompt.parts.some(({ kind: part, cached }) => part === 'chunk' && !cached)}
        />
      </div>
      <HeatView
        data={data}
        span={span}
        format={format.number}
        label={t('compare:heat.picture')}
        note={(layer, position) => ({
          title: `“${visible(prompt.tokens[position] ?? '')}”`,
          rows: [
            [t('tokens.position'), format.number(position)],
            [t('chunks.passage'), partName(prompt, position, words)],
            [t('layers.layer'), String(layer)],
            [t(`compare:heat.${matrix}`), significant(grid.values[layer * grid.columns + position] ?? 0)],
          ],
        })}
      />
      <Keys text={t('compare:heat.keyboard')} />
    </Section>
  );
}

function HeatChoices({
  methods,
  index,
  matrix,
  onIndex,
  onMatrix,
  words,
}: {
  methods: readonly DeepMethod[];
  index: number;
  matrix: MatrixName;
  onIndex: (index: number) => void;
  onMatrix: (matrix: MatrixName) => void;
  words: Words;
}) {
  const { t } = words;
  const kind = usePanelState((state) => state.scale);
  return (
    <Group gap="sm">
      <Select
        size="xs"
        w={250}
        aria-label={t('compare:heat.way')}
        allowDeselect={false}
        data={methods.map((way, i) => ({ value: String(i), label: nameOf(way, words) }))}
        value={String(index)}
        onChange={(value) => onIndex(Number(value))}
      />
      <SegmentedControl
        size="xs"
        aria-label={t('compare:heat.matrix')}
        value={matrix}
        onChange={(value) => onMatrix(value === 'k' ? 'k' : 'v')}
        data={[
          { value: 'v', label: t('compare:heat.values') },
          { value: 'k', label: t('compare:heat.keys') },
        ]}
      />
      <ScaleSwitch kind={kind} onChange={setScale} words={words} />
    </Group>
  );
}

function LegendParts({ computed, words: { t } }: { computed: boolean; words: Words }) {
  const parts = [
    ['ram', t('compare:heat.cached')],
    ...(computed ? [['computed', t('compare:heat.computed')]] : []),
    ['muted', t('tokens.text')],
  ];
  return parts.map(([colour, label]) => (
    <span key={colour}>
      <span
        className={classes.swatch}
        style={{ background: `var(--kv-${colour ?? ''})`, margin: 0 }}
        aria-hidden
      />
      {label}
    </span>
  ));
}

function partName({ parts }: DeepPrompt, position: number, { t }: Words): string {
  const part = parts.find(({ start, tokens }) => position >= start && position < start + tokens);
  return part?.title ?? t('tokens.text');
}

/** One row per token, one column per layer. */
function HeatTable({ grid, prompt, words }: { grid: Grid; prompt: DeepPrompt; words: Words }) {
  const { t, format, significant } = words;
  const layers = Array.from({ length: grid.rows }, (_, layer) => layer);
  return (
    <DataTable
      label={t('compare:heat.title')}
      columns={[
        { name: t('tokens.position'), numeric: true },
        { name: t('tokens.token') },
        { name: t('chunks.passage') },
        ...layers.map((layer) => ({ name: t('layers.layerName', { layer }), numeric: true })),
      ]}
      rows={grid.columns}
      cells={(position) => [
        format.number(position),
        visible(prompt.tokens[position] ?? ''),
        partName(prompt, position, words),
        ...layers.map((layer) => significant(grid.values[layer * grid.columns + position] ?? 0)),
      ]}
    />
  );
}
