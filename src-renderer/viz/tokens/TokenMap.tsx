import { VisuallyHidden } from '@mantine/core';
import {
  useCallback,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type Ref,
} from 'react';
import { Tip } from '../Tip.tsx';
import { useCanvas, type Paint } from '../useCanvas.ts';
import { usePalette } from '../usePalette.ts';
import { useWidth } from '../useWidth.ts';
import classes from '../viz.module.css';
import { drawTokens, tokenMetrics, type TokenMapData } from './draw.ts';
import { keyTarget } from './keys.ts';
import { layoutTokens, nearestToken, tokenAt, type TokenLayout } from './layout.ts';
import { Overview } from './Overview.tsx';
import { useScroll } from './useScroll.ts';
import { useSelection } from './useSelection.ts';

export interface TokenMapHandle {
  /** Scrolls map and token into view, focuses the map and activates the token. */
  show: (token: number) => void;
}

interface TokenMapProps {
  data: TokenMapData;
  label: string;
  overviewLabel: string;
  note: (token: number) => ReactNode;
  /** The tooltip as one sentence, announced when keys reach the token. */
  speak: (token: number) => string;
  handle?: Ref<TokenMapHandle>;
}

/**
 * The prompt's text, every token shaded. Only visible lines are drawn. Arrow keys move between tokens, n and p to the
 * next and previous outlined one, [ and ] between parts; dragging or Shift selects, and copying copies the text.
 */
export function TokenMap({ data, label, overviewLabel, note, speak, handle }: TokenMapProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const palette = usePalette();
  const width = useWidth(scroller);
  const layout = useTokenLayout(data, width);
  const [active, setActive] = useState<number | null>(null);
  const [spoken, setSpoken] = useState('');
  const pointAt = ({ nativeEvent }: PointerEvent, near: boolean) => {
    const { offsetX, offsetY } = nativeEvent;
    const y = offsetY + (scroller.current?.scrollTop ?? 0);
    return near ? nearestToken(layout, offsetX, y) : tokenAt(layout, offsetX, y);
  };
  const select = useSelection(data.tokens, pointAt, setActive);
  const { selection } = select;
  const { view, look, scrollTo, seen } = useScroll(scroller, layout);
  const paint = useCallback<Paint>(
    (context, _, height) => {
      const scrollTop = scroller.current?.scrollTop ?? 0;
      drawTokens(context, layout, data, { scrollTop, height, active, selection }, palette);
    },
    [layout, data, active, selection, palette],
  );
  const { ref, repaint } = useCanvas(paint);
  useImperativeHandle(
    handle,
    () => ({
      show: (token) => {
        scrollTo(token, true);
        setActive(token);
        scroller.current?.scrollIntoView({ block: 'center' });
        scroller.current?.focus({ preventScroll: true });
      },
    }),
    [scrollTo],
  );

  const press = (event: KeyboardEvent) => {
    if (event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key !== 'a') return;
      event.preventDefault();
      select.all();
    } else if (event.key === 'Escape' && (active !== null || selection)) {
      event.stopPropagation();
      select.clear();
      setActive(null);
    } else stepBy(event);
  };
  const stepBy = (event: KeyboardEvent) => {
    const from = active ?? seen[0];
    const token = keyTarget(event.key, from, active === null, layout, data);
    if (token === undefined) return;
    event.preventDefault();
    if (event.shiftKey) select.extend(from, token);
    else select.clear();
    setActive(token);
    setSpoken(speak(token));
    scrollTo(token);
  };
  return (
    <div className={classes.map}>
      <Overview
        data={data}
        label={overviewLabel}
        seen={view.height > 0 ? seen : null}
        onGo={(token) => scrollTo(token, true)}
      />
      <div className={classes.map} onPointerLeave={() => setActive(null)}>
        <div
          ref={scroller}
          className={classes.scroller}
          role="application"
          aria-label={label}
          tabIndex={0}
          onScroll={() => {
            repaint();
            look();
          }}
          onKeyDown={press}
          onCopy={select.copy}
        >
          <div className={classes.sheet} style={{ height: layout.height }}>
            <canvas
              ref={ref}
              className={classes.window}
              style={{ height: Math.min(view.height, layout.height) }}
              {...select.pointer}
            />
          </div>
        </div>
        {active !== null && (
          <TokenTip token={active} layout={layout} view={view} width={width}>
            {note(active)}
          </TokenTip>
        )}
      </div>
      <VisuallyHidden role="status">{spoken}</VisuallyHidden>
    </div>
  );
}

/** Not shown while its token is scrolled out of view. */
function TokenTip({
  token,
  layout,
  view,
  width,
  children,
}: {
  token: number;
  layout: TokenLayout;
  view: { top: number; height: number };
  width: number;
  children: ReactNode;
}) {
  const row = layout.rows[layout.row[token] ?? -1];
  const top = row ? row.y - view.top : 0;
  if (!row || top <= -row.height || top >= view.height) return null;
  return (
    <Tip
      at={{ x: layout.x[token] ?? 0, y: top }}
      below={top + row.height}
      frame={{ width, height: view.height }}
    >
      {children}
    </Tip>
  );
}

function useTokenLayout(data: TokenMapData, width: number): TokenLayout {
  const palette = usePalette();
  const metrics = useMemo(() => {
    const context = document.createElement('canvas').getContext('2d');
    return context ? tokenMetrics(context, palette) : null;
  }, [palette]);
  const { tokens, parts } = data;
  return useMemo(
    () =>
      metrics && width > 0
        ? layoutTokens(tokens, parts, width, metrics)
        : layoutTokens([], [], 1, {
            measure: () => 0,
            lineHeight: 0,
            headingHeight: 0,
            partGap: 0,
            gutter: 0,
            rightPadding: 0,
          }),
    [tokens, parts, width, metrics],
  );
}
