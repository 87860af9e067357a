import { useMemo } from 'react';
import { PictureView } from '../PictureView.tsx';
import type { ItemNote } from '../Tip.tsx';
import type { SpanControl } from '../useSpan.ts';
import { zoomKey, ZoomPan } from '../ZoomPan.tsx';
import { heat, type HeatData } from './heat.ts';
import { columnAt } from './layout.ts';

/** A heat map with zoom and pan; arrow keys move between cells and brackets between parts, and the view follows. */
export function HeatView({
  data,
  span,
  format,
  label,
  note,
}: {
  data: HeatData;
  span: SpanControl;
  /** Axis label of a column. */
  format: (column: number) => string;
  label: string;
  note: (row: number, column: number) => ItemNote;
}) {
  const { view } = span;
  const { columns } = data;
  const picture = useMemo(() => heat(data, view, format), [data, view, format]);
  const reveal = (item: number | null) => {
    const column = item === null ? view.start : item % columns;
    if (column + 1 <= view.start || column >= view.end) span.reveal(column, column + 1);
  };
  return (
    <ZoomPan control={span} valueAt={(x, width) => columnAt(x, view, width)}>
      <PictureView
        picture={picture}
        label={label}
        note={(item) => note(Math.floor(item / columns), item % columns)}
        onActive={reveal}
        onKey={(event) => zoomKey(event, span)}
      />
    </ZoomPan>
  );
}
