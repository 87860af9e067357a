import type { Palette } from './palette.ts';

export type Canvas2d = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** The drawing area: CSS pixels from its upper left corner. */
export interface Frame {
  width: number;
  height: number;
  palette: Palette;
}

export interface Point {
  x: number;
  y: number;
}

/**
 * Something that can be drawn at any width, on screen and into a file, and whose items (a layer, a stage, a ratio) can
 * be pointed at. Layout depends only on the frame; drawing has no side effects.
 */
export interface Picture {
  /** Number of items that can be pointed at. */
  items: number;
  height(width: number): number;
  draw(context: Canvas2d, frame: Frame, active: number | null): void;
  /** The item at a point; null if there is none. */
  hit(point: Point, frame: Frame): number | null;
  /** Position of an item's tooltip. */
  anchor(item: number, frame: Frame): Point;
  /** The item that a key moves to, if arrow keys do not simply step; undefined for other keys. */
  step?(key: string, active: number | null): number | undefined;
}

/** The next item for an arrow key; undefined for other keys. */
export function stepTo(key: string, active: number | null, items: number): number | undefined {
  if (items === 0) return undefined;
  const last = items - 1;
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return active === null ? 0 : Math.min(last, active + 1);
    case 'ArrowLeft':
    case 'ArrowUp':
      return active === null ? last : Math.max(0, active - 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}

const FONT_SIZE = 11;

export function setFont(context: Canvas2d, { font }: Palette, weight = 400, size = FONT_SIZE): void {
  context.font = `${weight} ${size}px ${font}`;
}
