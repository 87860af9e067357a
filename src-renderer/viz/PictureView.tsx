import { VisuallyHidden } from '@mantine/core';
import { useCallback, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { stepTo, type Picture } from './picture.ts';
import { Tip, TipRows, type ItemNote } from './Tip.tsx';
import { useCanvas, type Paint } from './useCanvas.ts';
import { usePalette } from './usePalette.ts';
import { useWidth } from './useWidth.ts';
import classes from './viz.module.css';

interface PictureViewProps {
  picture: Picture;
  /** Accessible description of the picture; a table next to it has the details. */
  label: string;
  /** The tooltip of an item. */
  note?: (item: number) => ItemNote | undefined;
  /** The sentence announced when arrow keys reach the item; absent: the tooltip's. */
  speak?: (item: number) => string;
  /** The item highlighted from elsewhere, shown while none is highlighted here. */
  highlighted?: number | null;
  onActive?: (item: number | null) => void;
  /** Receives keys first; true: handled. */
  onKey?: (event: KeyboardEvent) => boolean;
}

function sentenceOf({ title, rows }: ItemNote): string {
  return [title, ...rows.map((row) => row.join(' '))].join(', ');
}

function nextItem(picture: Picture, key: string, active: number | null): number | undefined {
  return picture.step ? picture.step(key, active) : stepTo(key, active, picture.items);
}

/** A picture on screen: pointer and arrow keys reach its items, and a tooltip explains the current one. */
export function PictureView({
  picture,
  label,
  note,
  speak,
  highlighted = null,
  onActive,
  onKey,
}: PictureViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const palette = usePalette();
  const width = useWidth(box);
  const height = picture.height(width);
  const [active, setActive] = useState<number | null>(null);
  const [spoken, setSpoken] = useState('');
  const shown = active ?? highlighted;
  const paint = useCallback<Paint>(
    (context, width, height) => picture.draw(context, { width, height, palette }, shown),
    [picture, palette, shown],
  );
  const { ref } = useCanvas(paint);

  const activate = (item: number | null) => {
    setActive(item);
    if (item !== active) onActive?.(item);
  };
  const point = ({ nativeEvent }: PointerEvent) => {
    const at = { x: nativeEvent.offsetX, y: nativeEvent.offsetY };
    activate(picture.hit(at, { width, height, palette }));
  };
  const press = (event: KeyboardEvent) => {
    if (onKey?.(event) === true) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = event.key === 'Escape' && active !== null ? null : nextItem(picture, event.key, active);
    if (item === undefined) return;
    event.preventDefault();
    // Escape closes the tooltip, not the panel.
    event.stopPropagation();
    activate(item);
    if (item === null) return;
    const described = note?.(item);
    setSpoken(speak?.(item) ?? (described ? sentenceOf(described) : ''));
  };
  const at = active !== null && active < picture.items && width > 0 ? active : null;
  const anchor = at === null ? null : picture.anchor(at, { width, height, palette });
  const shownNote = at === null ? undefined : note?.(at);
  return (
    <div
      ref={box}
      className={classes.picture}
      role="application"
      aria-label={label}
      tabIndex={0}
      onKeyDown={press}
      onBlur={() => activate(null)}
    >
      <canvas
        ref={ref}
        className={classes.canvas}
        style={{ height }}
        onPointerMove={point}
        onPointerLeave={() => activate(null)}
      />
      {anchor && shownNote && (
        <Tip at={anchor} below={anchor.y} frame={{ width, height }}>
          <TipRows {...shownNote} />
        </Tip>
      )}
      <VisuallyHidden role="status">{spoken}</VisuallyHidden>
    </div>
  );
}
