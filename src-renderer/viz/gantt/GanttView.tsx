import { useMemo, type KeyboardEvent } from 'react';
import { PictureView } from '../PictureView.tsx';
import type { ItemNote } from '../Tip.tsx';
import type { SpanControl } from '../useSpan.ts';
import { zoomKey, ZoomPan } from '../ZoomPan.tsx';
import { gantt, type GanttWords } from './gantt.ts';
import { timeAt, type LayerTimes } from './layout.ts';

const PAN_STEP = 0.2;

/** A Gantt chart with zoom and pan, also by + − ← → 0; up and down move between layers. */
export function GanttView({
  layers,
  time,
  words,
  label,
  note,
  speak,
}: {
  layers: readonly LayerTimes[];
  time: SpanControl;
  words: GanttWords;
  label: string;
  note: (row: number) => ItemNote | undefined;
  speak: (row: number) => string;
}) {
  const { view } = time;
  const picture = useMemo(() => gantt(layers, view, words), [layers, view, words]);
  const press = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.metaKey) return false;
    if (event.key === 'ArrowLeft') time.pan(-PAN_STEP);
    else if (event.key === 'ArrowRight') time.pan(PAN_STEP);
    else return zoomKey(event, time);
    return true;
  };
  return (
    <ZoomPan control={time} valueAt={(x, width) => timeAt(x, view, width)}>
      <PictureView picture={picture} label={label} note={note} speak={speak} onKey={press} />
    </ZoomPan>
  );
}
