import { useMemo, useRef, useState, type ClipboardEvent, type PointerEvent } from 'react';

/**
 * A selection of tokens: by dragging, from its start with Shift, or by keys. Copying copies their text. `tokenAt`: the
 * token under the pointer, or with `near` the nearest; `onPoint` receives it.
 */
export function useSelection(
  tokens: readonly string[],
  tokenAt: (event: PointerEvent, near: boolean) => number | null,
  onPoint: (token: number | null) => void,
) {
  const [chosen, setChosen] = useState<{ from: number; to: number } | null>(null);
  const dragging = useRef(false);
  /** [first, end). */
  const selection = useMemo<[number, number] | null>(
    () => chosen && [Math.min(chosen.from, chosen.to), Math.max(chosen.from, chosen.to) + 1],
    [chosen],
  );
  const end = (): void => {
    dragging.current = false;
    // A click selects nothing.
    setChosen((old) => (old && old.from === old.to ? null : old));
  };
  return {
    selection,
    pointer: {
      onPointerDown: (event: PointerEvent): void => {
        const token = event.button === 0 ? tokenAt(event, true) : null;
        if (token === null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragging.current = true;
        setChosen((old) => ({ from: event.shiftKey && old ? old.from : token, to: token }));
      },
      onPointerMove: (event: PointerEvent): void => {
        const token = tokenAt(event, dragging.current);
        onPoint(token);
        if (dragging.current && token !== null) setChosen((old) => old && { ...old, to: token });
      },
      onPointerUp: end,
      onPointerCancel: end,
    },
    extend: (from: number, to: number): void => setChosen((old) => ({ from: old?.from ?? from, to })),
    all: (): void => setChosen({ from: 0, to: tokens.length - 1 }),
    clear: (): void => setChosen(null),
    copy: (event: ClipboardEvent): void => {
      if (!selection) return;
      event.preventDefault();
      event.clipboardData.setData('text/plain', tokens.slice(...selection).join(''));
    },
  };
}
