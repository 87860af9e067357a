import { useState } from 'react';
import { panned, revealed, zoomed, type Span } from './span.ts';

/** The visible span of a picture, and its operations. */
export interface SpanControl {
  view: Span;
  zoomed: boolean;
  /** Below 1: zooms in. Around a value; absent: around the centre. */
  zoom: (factor: number, around?: number) => void;
  /** By a share of the visible span. */
  pan: (share: number) => void;
  /** Brings a part into view. */
  reveal: (from: number, to: number) => void;
  reset: () => void;
}

/** `whole` must be referentially stable as long as it is unchanged. */
export function useSpan(whole: Span): SpanControl {
  const [chosen, setChosen] = useState<{ view: Span; of: Span } | null>(null);
  const view = chosen?.of === whole ? chosen.view : whole;
  const change = (to: (now: Span) => Span) =>
    setChosen((old) => ({ view: to(old?.of === whole ? old.view : whole), of: whole }));
  return {
    view,
    zoomed: view.end - view.start < whole.end - whole.start,
    zoom: (factor, around) =>
      change((now) => zoomed(now, whole, factor, around ?? (now.start + now.end) / 2)),
    pan: (share) => change((now) => panned(now, whole, share)),
    reveal: (from, to) => change((now) => revealed(now, whole, from, to)),
    reset: () => setChosen(null),
  };
}
