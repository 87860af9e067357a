import { useMemo, type ReactNode } from 'react';
import { PictureView } from '../PictureView.tsx';
import type { SpanControl } from '../useSpan.ts';
import { zoomKey, ZoomPan } from '../ZoomPan.tsx';
import { heat, type HeatData } from './heat.ts';
import { columnAt } from './layout.ts';

/** A heat map to zoom and pan; arrow keys go from cell to cell and brackets from part to part, and the view goes along. */
export function HeatView({
  data,
  span,
  format,
  label,
  note,
  speak,
}: {
  data: HeatData;
  span: SpanControl;
  /** A column's number on the axis. */
  format: (column: number) => string;
  label: string;
  note: (row: number, column: number) => ReactNode;
  speak: (row: number, column: number) => string;
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
        speak={(item) => speak(Math.floor(item / columns), item % columns)}
        onActive={reveal}
        onKey={(event) => zoomKey(event, span)}
      />
    </ZoomPan>
  );
}
