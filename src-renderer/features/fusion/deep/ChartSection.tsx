import { useMemo } from 'react';
import { chart } from '../../../viz/chart/chart.ts';
import { valueAt, type ChartSpec } from '../../../viz/chart/layout.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { PictureView } from '../../../viz/PictureView.tsx';
import { Section } from '../Section.tsx';
import type { Files } from '../useFiles.ts';

interface ChartSectionProps {
  name: string;
  title: string;
  lead: string;
  /** Charts of the same items, one below the other. */
  specs: readonly ChartSpec[];
  /** Name of an item, e.g. "Layer 3". */
  itemName: (x: number) => string;
  files: Files;
  csv: () => string;
}

/** A caption, charts, and their numbers as notes and as a table. */
export function ChartSection({ name, title, lead, specs, itemName, files, csv }: ChartSectionProps) {
  const pictures = useMemo(() => specs.map(chart), [specs]);
  const items = specs[0]?.items ?? [];
  if (items.length === 0) return <Section name={name} title={title} lead={lead} />;
  const png = () =>
    files.png(
      name,
      pictures.map((picture, i) => ({ title: i === 0 ? title : '', caption: i === 0 ? lead : '', picture })),
    );
  return (
    <Section
      name={name}
      title={title}
      lead={lead}
      table={<ChartTable title={title} specs={specs} itemName={itemName} />}
      onPng={png}
      onCsv={() => files.csv(name, csv())}
    >
      {pictures.map((picture, i) => {
        const spec = specs[i];
        if (!spec) return null;
        return (
          <PictureView
            key={i}
            picture={picture}
            label={specs.length > 1 ? `${title}: ${spec.series[0]?.label ?? ''}` : title}
            note={(item) => {
              const x = spec.items[item] ?? 0;
              return { title: itemName(x), rows: rowsAt(spec, x) };
            }}
          />
        );
      })}
    </Section>
  );
}

/** The value of every named series at x, in words. */
function rowsAt({ series, y }: ChartSpec, x: number): [string, string][] {
  return series.flatMap((one): [string, string][] => {
    const point = valueAt(one, x);
    if (!point || one.label === '') return [];
    const value =
      point.low === undefined ? y.format(point.y) : `${y.format(point.low)} – ${y.format(point.y)}`;
    return [[one.label, value]];
  });
}

function ChartTable({ title, specs, itemName }: Pick<ChartSectionProps, 'title' | 'specs' | 'itemName'>) {
  const items = specs[0]?.items ?? [];
  const names = specs
    .flatMap(({ series }) => series.map(({ label }) => label))
    .filter((label) => label !== '');
  return (
    <DataTable
      label={title}
      columns={[{ name: specs[0]?.x.label ?? '' }, ...names.map((name) => ({ name, numeric: true }))]}
      rows={items.length}
      cells={(row) => {
        const x = items[row] ?? 0;
        const found = new Map(specs.flatMap((spec) => rowsAt(spec, x)));
        return [itemName(x), ...names.map((name) => found.get(name) ?? '')];
      }}
    />
  );
}
