/** Effect of a click or key on a row selection, as in a file manager. */
export type SelectGesture = 'replace' | 'toggle' | 'extend';

export function gestureOf(event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): SelectGesture {
  if (event.shiftKey) return 'extend';
  return event.ctrlKey || event.metaKey ? 'toggle' : 'replace';
}

export function toggled(selected: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** The active row after a key; undefined if the key does not move it. */
export function movedTo(key: string, active: number, total: number, pageRows: number): number | undefined {
  const targets: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + pageRows,
    PageUp: active - pageRows,
    Home: 0,
    End: total - 1,
  };
  const target = targets[key];
  return target === undefined || total === 0 ? undefined : Math.max(0, Math.min(total - 1, target));
}
