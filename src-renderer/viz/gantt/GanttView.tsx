import { useEffect, useMemo, useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { PictureView } from '../PictureView.tsx';
import { gantt, type GanttWords } from './gantt.ts';
import { timeAt, type LayerTimes } from './layout.ts';
import type { TimeControl } from './useTimeView.ts';

const ZOOM_STEP = 0.7;
const PAN_STEP = 0.2;

/**
 * A Gantt chart to zoom and pan: with Ctrl and the wheel or a pinch (a plain wheel scrolls the page), by dragging, and
 * by + − ← → 0; up and down go from layer to layer.
 */
export function GanttView({
  layers,
  time,
  words,
  label,
  note,
  speak,
}: {
  layers: readonly LayerTimes[];
  time: TimeControl;
  words: GanttWords;
  label: string;
  note: (row: number) => ReactNode;
  speak: (row: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const dragged = useRef<number | null>(null);
  const picture = useMemo(() => gantt(layers, time.view, words), [layers, time.view, words]);
  const latest = useRef(time);
  useEffect(() => {
    latest.current = time;
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    // React listens passively, and then the page would zoom.
    const wheel = (event: WheelEvent) => {
      const { view, zoom, pan } = latest.current;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (event.ctrlKey || event.metaKey) {
        const { left, width } = element.getBoundingClientRect();
        zoom(Math.exp(event.deltaY * 0.004), timeAt(event.clientX - left, view, width));
      } else if (sideways !== 0 || event.shiftKey) pan((sideways || event.deltaY) / element.clientWidth);
      else return;
      event.preventDefault();
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  const press = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => {
    if (ctrlKey || metaKey) return false;
    if (key === '+' || key === '=') time.zoom(ZOOM_STEP);
    else if (key === '-' || key === '−') time.zoom(1 / ZOOM_STEP);
    else if (key === 'ArrowLeft') time.pan(-PAN_STEP);
    else if (key === 'ArrowRight') time.pan(PAN_STEP);
    else if (key === '0') time.reset();
    else return false;
    return true;
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (dragged.current === null || !time.zoomed) return;
    time.pan((dragged.current - event.clientX) / event.currentTarget.clientWidth);
    dragged.current = event.clientX;
  };
  const release = () => {
    dragged.current = null;
  };
  return (
    <div
      ref={box}
      style={time.zoomed ? { cursor: 'grab' } : undefined}
      onPointerDown={(event) => {
        if (event.button !== 0 || !time.zoomed) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = event.clientX;
      }}
      onPointerMove={drag}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <PictureView picture={picture} label={label} note={note} speak={speak} onKey={press} />
    </div>
  );
}
