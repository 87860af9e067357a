import { useCallback, useEffect, useState, type RefObject } from 'react';
import { rowsWithin, type TokenLayout } from './layout.ts';

/** The visible part of a map that scrolls. */
export function useScroll(scrollerRef: RefObject<HTMLDivElement | null>, layout: TokenLayout) {
  const [view, setView] = useState({ top: 0, height: 0 });
  const look = useCallback(() => {
    const { current } = scrollerRef;
    if (current) setView({ top: current.scrollTop, height: current.clientHeight });
  }, [scrollerRef]);
  useEffect(look, [look, layout]);
  /** Scrolls to a token if it is not visible, or always. */
  const scrollTo = useCallback(
    (token: number, always = false) => {
      const row = layout.rows[layout.row[token] ?? 0];
      const { current } = scrollerRef;
      if (!row || !current) return;
      const { scrollTop, clientHeight } = current;
      const outside = row.y < scrollTop || row.y + row.height > scrollTop + clientHeight;
      if (outside || always) current.scrollTop = Math.max(0, row.y - clientHeight / 3);
    },
    [scrollerRef, layout],
  );
  const [first, end] = rowsWithin(layout, view.top, view.top + view.height);
  /** The visible tokens, [first, end). */
  const seen: [number, number] = [layout.rows[first]?.first ?? 0, layout.rows[end - 1]?.end ?? 0];
  return { view, look, scrollTo, seen };
}
