import { useCallback, type PointerEvent } from 'react';
import { useCanvas, type Paint } from '../useCanvas.ts';
import { usePalette } from '../usePalette.ts';
import classes from '../viz.module.css';
import type { TokenMapData } from './draw.ts';
import { drawOverview, tokenOfColumn } from './overview.ts';

/** The whole prompt in one strip; a click or drag scrolls there. The map next to it does the same by keyboard. */
export function Overview({
  data,
  label,
  seen,
  onGo,
}: {
  data: TokenMapData;
  label: string;
  seen: readonly [number, number] | null;
  onGo: (token: number) => void;
}) {
  const palette = usePalette();
  const [first, end] = seen ?? [0, 0];
  const paint = useCallback<Paint>(
    (context, width) => drawOverview(context, data, width, end > 0 ? [first, end] : null, palette),
    [data, first, end, palette],
  );
  const { ref } = useCanvas(paint);
  const go = ({ nativeEvent, currentTarget, buttons }: PointerEvent) => {
    if ((buttons & 1) === 0) return;
    onGo(tokenOfColumn(nativeEvent.offsetX, data.tokens.length, currentTarget.clientWidth));
  };
  return (
    <canvas
      ref={ref}
      className={classes.overview}
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    />
  );
}
