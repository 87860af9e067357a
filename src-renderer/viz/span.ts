/** The visible part of something long: times of a chart, tokens of a prompt. */
export interface Span {
  start: number;
  end: number;
}

/** Zooms by `factor` (below 1: in) around a value, between the whole and a five-hundredth of it. */
export function zoomed(view: Span, whole: Span, factor: number, around: number): Span {
  const all = whole.end - whole.start;
  const span = Math.min(all, Math.max(all / 500, (view.end - view.start) * factor));
  const share = (around - view.start) / (view.end - view.start);
  return within({ start: around - share * span, end: around + (1 - share) * span }, whole);
}

/** Shifts by a share of the visible span, clamped to the whole. */
export function panned(view: Span, whole: Span, share: number): Span {
  const by = (view.end - view.start) * share;
  return within({ start: view.start + by, end: view.end + by }, whole);
}

/** Shifts by the minimum that brings [from, to] into view. */
export function revealed(view: Span, whole: Span, from: number, to: number): Span {
  const by = from < view.start ? from - view.start : Math.max(0, to - view.end);
  return by === 0 ? view : within({ start: view.start + by, end: view.end + by }, whole);
}

function within({ start, end }: Span, whole: Span): Span {
  const shift = Math.max(0, whole.start - start) - Math.max(0, end - whole.end);
  return { start: start + shift, end: end + shift };
}
