import { useCallback, useEffect, useLayoutEffect, useRef, type RefObject } from 'react';

export type Paint = (context: CanvasRenderingContext2D, width: number, height: number) => void;

/**
 * A canvas painted in CSS pixels, sharp at every pixel ratio: when `paint`, its size or the pixel ratio changes, and on
 * request; at most once per frame.
 */
export function useCanvas(paint: Paint): { ref: RefObject<HTMLCanvasElement | null>; repaint: () => void } {
  const ref = useRef<HTMLCanvasElement>(null);
  const latest = useRef(paint);
  const frame = useRef(0);
  const repaint = useCallback(() => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      if (ref.current) paintSharp(ref.current, latest.current);
    });
  }, []);
  useLayoutEffect(() => {
    latest.current = paint;
    repaint();
  }, [paint, repaint]);
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return undefined;
    const sizes = new ResizeObserver(repaint);
    sizes.observe(canvas);
    // Moving to a screen with another pixel ratio, or zooming the page, resizes the window.
    window.addEventListener('resize', repaint);
    return () => {
      sizes.disconnect();
      window.removeEventListener('resize', repaint);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [repaint]);
  return { ref, repaint };
}

function paintSharp(canvas: HTMLCanvasElement, paint: Paint): void {
  const context = canvas.getContext('2d');
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!context || width === 0 || height === 0) return;
  const ratio = window.devicePixelRatio;
  const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
  if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  paint(context, width, height);
}
