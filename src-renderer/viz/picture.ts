import type { Palette } from './palette.ts';

export type Canvas2d = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Where a picture is drawn: CSS pixels from its upper left corner. */
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
 * Something that can be drawn at any width, on the screen and into a file, and whose items (a layer, a stage, a
 * ratio) can be pointed at. Layout is computed from the frame alone; drawing changes nothing.
 */
export interface Picture {
  /** Items that can be pointed at, 0 to items − 1. */
  items: number;
  height(width: number): number;
  draw(context: Canvas2d, frame: Frame, active: number | null): void;
  /** The item at a point, null where there is none. */
  hit(point: Point, frame: Frame): number | null;
  /** Where the note on an item stands. */
  anchor(item: number, frame: Frame): Point;
  /** The item a key leads to, where going on by one is not what arrows mean; undefined for other keys. */
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
