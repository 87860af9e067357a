import type { Rect } from '../axes.ts';
import type { Point } from '../picture.ts';
import type { Span } from '../span.ts';

/** Numbers in rows (layers) and columns (tokens), in row-major order. */
export interface Grid {
  rows: number;
  columns: number;
  values: Float32Array;
}

/** A cell as a single number, so that it can be an item of a picture. */
export interface Cell {
  row: number;
  column: number;
}

const LEFT = 34;
const RIGHT = 8;
const TOP = 8;
const [MOST, LEAST, BEST] = [16, 4, 340];
/** Below the cells: a band with the parts, and positions. */
export const BAND = 6;
const BELOW = BAND + 26;

export interface HeatLayout {
  plot: Rect;
  rowHeight: number;
}

export function heatRowHeight(rows: number): number {
  return Math.max(LEAST, Math.min(MOST, Math.floor(BEST / Math.max(1, rows))));
}

export function heatHeight(rows: number): number {
  return TOP + rows * heatRowHeight(rows) + BELOW;
}

export function layoutHeat(rows: number, width: number): HeatLayout {
  const rowHeight = heatRowHeight(rows);
  return {
    rowHeight,
    plot: { left: LEFT, top: TOP, right: Math.max(LEFT + 1, width - RIGHT), bottom: TOP + rows * rowHeight },
  };
}

/** The column value at x. */
export function columnAt(x: number, view: Span, width: number): number {
  const { plot } = layoutHeat(1, width);
  return view.start + ((x - plot.left) / (plot.right - plot.left)) * (view.end - view.start);
}

/** The x at which a column starts. */
export function xOf(column: number, view: Span, { plot }: HeatLayout): number {
  return plot.left + ((column - view.start) / (view.end - view.start)) * (plot.right - plot.left);
}

export function cellAt({ x, y }: Point, grid: Grid, view: Span, width: number): Cell | null {
  const { plot, rowHeight } = layoutHeat(grid.rows, width);
  if (x < plot.left || x >= plot.right || y < plot.top || y >= plot.bottom) return null;
  const row = Math.floor((y - plot.top) / rowHeight);
  const column = Math.floor(columnAt(x, view, width));
  return column >= 0 && column < grid.columns ? { row, column } : null;
}

/**
 * What `pixels` screen columns show of the view, in row-major order: the maximum of all columns on a pixel, so that
 * single deviating tokens stay visible when zoomed out.
 */
export function strongest({ rows, columns, values }: Grid, view: Span, pixels: number): Float32Array {
  const shown = new Float32Array(rows * pixels);
  const scale = (view.end - view.start) / pixels;
  for (let pixel = 0; pixel < pixels; pixel++) {
    const first = Math.min(columns - 1, Math.max(0, Math.floor(view.start + pixel * scale)));
    const end = Math.min(columns, Math.max(first + 1, Math.floor(view.start + (pixel + 1) * scale)));
    for (let row = 0; row < rows; row++) {
      let most = 0;
      for (let column = first; column < end; column++)
        most = Math.max(most, values[row * columns + column] ?? 0);
      shown[row * pixels + pixel] = most;
    }
  }
  return shown;
}

/** The cell that a key moves to; undefined for other keys. `starts`: where parts start, ascending. */
export function stepCell(
  key: string,
  from: Cell | null,
  { rows, columns }: Pick<Grid, 'rows' | 'columns'>,
  starts: readonly number[],
): Cell | undefined {
  if (rows === 0 || columns === 0) return undefined;
  const { row, column } = from ?? { row: 0, column: 0 };
  const at = (to: number): Cell => ({ row, column: Math.min(columns - 1, Math.max(0, to)) });
  switch (key) {
    case 'ArrowRight':
      return at(from ? column + 1 : 0);
    case 'ArrowLeft':
      return at(from ? column - 1 : 0);
    case 'ArrowDown':
      return { row: from ? Math.min(rows - 1, row + 1) : 0, column };
    case 'ArrowUp':
      return { row: from ? Math.max(0, row - 1) : rows - 1, column };
    case 'Home':
      return at(0);
    case 'End':
      return at(columns - 1);
    case ']':
      return at(starts.find((start) => start > column) ?? columns - 1);
    case '[':
      return at(starts.findLast((start) => start < column) ?? 0);
    default:
      return undefined;
  }
}
