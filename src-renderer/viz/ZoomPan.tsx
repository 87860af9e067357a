import { useEffect, useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import type { SpanControl } from './useSpan.ts';

const ZOOM_STEP = 0.7;

/** Zooms with Ctrl and the wheel or a pinch (a plain wheel scrolls the page), pans by dragging or horizontal scrolling. */
export function ZoomPan({
  control,
  valueAt,
  children,
}: {
  control: SpanControl;
  /** The value at x, in a picture `width` wide. */
  valueAt: (x: number, width: number) => number;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const dragged = useRef<number | null>(null);
  const latest = useRef({ control, valueAt });
  useEffect(() => {
    latest.current = { control, valueAt };
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    // React's wheel listeners are passive, so the page would zoom.
    const wheel = (event: WheelEvent) => {
      const { zoom, pan } = latest.current.control;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (event.ctrlKey || event.metaKey) {
        const { left, width } = element.getBoundingClientRect();
        zoom(Math.exp(event.deltaY * 0.004), latest.current.valueAt(event.clientX - left, width));
      } else if (sideways !== 0 || event.shiftKey) pan((sideways || event.deltaY) / element.clientWidth);
      else return;
      event.preventDefault();
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (dragged.current === null || !control.zoomed) return;
    control.pan((dragged.current - event.clientX) / event.currentTarget.clientWidth);
    dragged.current = event.clientX;
  };
  const release = () => {
    dragged.current = null;
  };
  return (
    <div
      ref={box}
      style={control.zoomed ? { cursor: 'grab' } : undefined}
      onPointerDown={(event) => {
        if (event.button !== 0 || !control.zoomed) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = event.clientX;
      }}
      onPointerMove={drag}
      onPointerUp={release}
      onPointerCancel={release}
    >
      {children}
    </div>
  );
}

/** Handles + − and 0; false for other keys. */
export function zoomKey({ key, ctrlKey, metaKey }: KeyboardEvent, control: SpanControl): boolean {
  if (ctrlKey || metaKey) return false;
  if (key === '+' || key === '=') control.zoom(ZOOM_STEP);
  else if (key === '-' || key === '−') control.zoom(1 / ZOOM_STEP);
  else if (key === '0') control.reset();
  else return false;
  return true;
}
