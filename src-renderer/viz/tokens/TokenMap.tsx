import { VisuallyHidden } from '@mantine/core';
import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type ClipboardEvent,
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
import { layoutTokens, nearestToken, rowsWithin, tokenAt, type TokenLayout } from './layout.ts';
import { Overview } from './Overview.tsx';

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
  const [selected, setSelected] = useState<{ from: number; to: number } | null>(null);
  const [spoken, setSpoken] = useState('');
  const [view, setView] = useState({ top: 0, height: 0 });
  const dragging = useRef(false);

  const selection = useMemo(() => (selected ? ordered(selected) : null), [selected]);
  const paint = useCallback<Paint>(
    (context, _, height) => {
      const scrollTop = scroller.current?.scrollTop ?? 0;
      drawTokens(context, layout, data, { scrollTop, height, active, selection }, palette);
    },
    [layout, data, active, selection, palette],
  );
  const { ref, repaint } = useCanvas(paint);

  const look = useCallback(() => {
    const { current } = scroller;
    if (current) setView({ top: current.scrollTop, height: current.clientHeight });
  }, []);
  useEffect(look, [look, layout]);
  const scrollTo = useCallback(
    (token: number, always = false) => {
      const row = layout.rows[layout.row[token] ?? 0];
      const { current } = scroller;
      if (!row || !current) return;
      const { scrollTop, clientHeight } = current;
      const outside = row.y < scrollTop || row.y + row.height > scrollTop + clientHeight;
      if (outside || always) current.scrollTop = Math.max(0, row.y - clientHeight / 3);
    },
    [layout],
  );
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

  const pointAt = ({ nativeEvent }: PointerEvent, near: boolean) => {
    const { offsetX, offsetY } = nativeEvent;
    const y = offsetY + (scroller.current?.scrollTop ?? 0);
    return near ? nearestToken(layout, offsetX, y) : tokenAt(layout, offsetX, y);
  };
  const move = (event: PointerEvent) => {
    const token = pointAt(event, dragging.current);
    setActive(token);
    if (dragging.current && token !== null) setSelected((old) => (old ? { ...old, to: token } : null));
  };
  const start = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const token = pointAt(event, true);
    if (token === null) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    dragging.current = true;
    setSelected((old) => ({ from: event.shiftKey && old ? old.from : token, to: token }));
  };
  const end = () => {
    dragging.current = false;
    // A click selects nothing.
    setSelected((old) => (old && old.from === old.to ? null : old));
  };
  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'a') {
      event.preventDefault();
      setSelected({ from: 0, to: data.tokens.length - 1 });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && (active !== null || selected)) {
      event.stopPropagation();
      setSelected(null);
      setActive(null);
      return;
    }
    const [first] = rowsWithin(layout, view.top, view.top + view.height);
    const from = active ?? layout.rows[first]?.first ?? 0;
    const token = keyTarget(event.key, from, active === null, layout, data);
    if (token === undefined) return;
    event.preventDefault();
    setSelected((old) => (event.shiftKey ? { from: old?.from ?? from, to: token } : null));
    setActive(token);
    setSpoken(speak(token));
    scrollTo(token);
  };
  const copy = (event: ClipboardEvent) => {
    if (!selection) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', data.tokens.slice(...selection).join(''));
  };

  const row = active === null ? undefined : layout.rows[layout.row[active] ?? -1];
  const tipTop = row ? row.y - view.top : 0;
  const tipShown = active !== null && row && tipTop > -row.height && tipTop < view.height;
  const seen = rowsWithin(layout, view.top, view.top + view.height);
  return (
    <div className={classes.map}>
      <Overview
        data={data}
        label={overviewLabel}
        seen={view.height > 0 ? tokensOf(layout, seen) : null}
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
          onCopy={copy}
        >
          <div className={classes.sheet} style={{ height: layout.height }}>
            <canvas
              ref={ref}
              className={classes.window}
              style={{ height: Math.min(view.height, layout.height) }}
              onPointerMove={move}
              onPointerDown={start}
              onPointerUp={end}
              onPointerCancel={end}
            />
          </div>
        </div>
        {tipShown && (
          <Tip
            at={{ x: layout.x[active] ?? 0, y: tipTop }}
            below={tipTop + row.height}
            frame={{ width, height: view.height }}
          >
            {note(active)}
          </Tip>
        )}
      </div>
      <VisuallyHidden role="status">{spoken}</VisuallyHidden>
    </div>
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

function ordered({ from, to }: { from: number; to: number }): [number, number] {
  return [Math.min(from, to), Math.max(from, to) + 1];
}

/** The tokens of a run of rows, [first, end). */
function tokensOf({ rows }: TokenLayout, [first, end]: [number, number]): [number, number] {
  return [rows[first]?.first ?? 0, rows[end - 1]?.end ?? 0];
}
