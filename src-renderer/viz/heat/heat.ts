import { scaleLinear } from 'd3-scale';
import { drawAxes } from '../axes.ts';
import { shade, type Colour, type Palette } from '../palette.ts';
import { setFont, type Canvas2d, type Frame, type Picture } from '../picture.ts';
import type { Span } from '../span.ts';
import {
  BAND,
  cellAt,
  heatHeight,
  layoutHeat,
  stepCell,
  strongest,
  xOf,
  type Cell,
  type Grid,
  type HeatLayout,
} from './layout.ts';

export interface HeatData extends Grid {
  /** The strength of a value's shade, 0 to 1. */
  strength: (value: number) => number;
  /** Runs of columns, in order. */
  parts: readonly { first: number; count: number; colour: Colour }[];
}

/** Rows × columns as shades; `view` in columns. An item is a cell: row × columns + column. */
export function heat(data: HeatData, view: Span, format: (column: number) => string): Picture {
  const { rows, columns, parts } = data;
  const starts = parts.map(({ first }) => first);
  const cellOf = (item: number): Cell => ({ row: Math.floor(item / columns), column: item % columns });
  const itemOf = ({ row, column }: Cell) => row * columns + column;
  return {
    items: rows * columns,
    height: () => heatHeight(rows),
    draw: (context, frame, active) =>
      draw(context, data, view, format, frame, active === null ? null : cellOf(active)),
    hit: (point, { width }) => {
      const cell = cellAt(point, data, view, width);
      return cell && itemOf(cell);
    },
    anchor: (item, { width }) => {
      const layout = layoutHeat(rows, width);
      const { row, column } = cellOf(item);
      return { x: xOf(column, view, layout), y: layout.plot.top + (row + 1) * layout.rowHeight };
    },
    step: (key, active) => {
      const cell = stepCell(key, active === null ? null : cellOf(active), data, starts);
      return cell && itemOf(cell);
    },
  };
}

function draw(
  context: Canvas2d,
  data: HeatData,
  view: Span,
  format: (column: number) => string,
  { width, palette }: Frame,
  active: Cell | null,
): void {
  const layout = layoutHeat(data.rows, width);
  drawCells(context, data, view, layout, palette);
  drawLayerNames(context, data.rows, layout, active, palette);
  drawParts(context, data, view, layout, palette);
  const below = { ...layout.plot, bottom: layout.plot.bottom + BAND + 3 };
  const x = scaleLinear([view.start, view.end], [below.left, below.right]);
  const ticks = x.ticks(Math.max(2, Math.floor((below.right - below.left) / 90))).filter(Number.isInteger);
  drawAxes(context, below, ticks.map((column) => ({ at: x(column), label: format(column) })), [], palette); // prettier-ignore
  if (active) drawActive(context, active, view, layout, palette);
}

function drawCells(
  context: Canvas2d,
  data: HeatData,
  view: Span,
  { plot, rowHeight }: HeatLayout,
  palette: Palette,
): void {
  const pixels = Math.max(1, Math.round(plot.right - plot.left));
  const shown = strongest(data, view, pixels);
  const small = new OffscreenCanvas(pixels, data.rows);
  const target = small.getContext('2d');
  if (!target) throw new Error('heat: this browser has no 2D canvas');
  const image = target.createImageData(pixels, data.rows);
  const colours = rampBytes(palette);
  const last = palette.ramp.length - 1;
  for (const [i, value] of shown.entries()) {
    const step = Math.round(Math.min(1, Math.max(0, data.strength(value))) * last);
    image.data.set(colours.subarray(step * 4, step * 4 + 4), i * 4);
  }
  target.putImageData(image, 0, 0);
  context.save();
  context.imageSmoothingEnabled = false;
  context.drawImage(small, plot.left, plot.top, plot.right - plot.left, data.rows * rowHeight);
  context.restore();
}

const known = new WeakMap<Palette, Uint8ClampedArray>();

/** The ramp as RGBA bytes: only a canvas can resolve CSS colours. */
function rampBytes(palette: Palette): Uint8ClampedArray {
  const before = known.get(palette);
  if (before) return before;
  const { ramp } = palette;
  const context = new OffscreenCanvas(ramp.length, 1).getContext('2d');
  if (!context) throw new Error('heat: this browser has no 2D canvas');
  for (const step of ramp.keys()) {
    context.fillStyle = shade(palette, step / Math.max(1, ramp.length - 1));
    context.fillRect(step, 0, 1, 1);
  }
  const bytes = context.getImageData(0, 0, ramp.length, 1).data;
  known.set(palette, bytes);
  return bytes;
}

function drawLayerNames(
  context: Canvas2d,
  rows: number,
  { plot, rowHeight }: HeatLayout,
  active: Cell | null,
  palette: Palette,
): void {
  setFont(context, palette, 400, Math.min(11, Math.max(8, rowHeight)));
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const every = Math.ceil(13 / rowHeight);
  for (let row = 0; row < rows; row++) {
    if (row % every !== 0 && row !== active?.row) continue;
    context.fillStyle = row === active?.row ? palette.text : palette.muted;
    context.fillText(String(row), plot.left - 6, plot.top + (row + 0.5) * rowHeight);
  }
}

function drawParts(
  context: Canvas2d,
  { parts }: HeatData,
  view: Span,
  layout: HeatLayout,
  palette: Palette,
): void {
  const { plot } = layout;
  for (const { first, count, colour } of parts) {
    const left = Math.max(plot.left, xOf(first, view, layout));
    const right = Math.min(plot.right, xOf(first + count, view, layout));
    if (right <= left) continue;
    context.fillStyle = palette[colour];
    context.fillRect(left, plot.bottom + 3, Math.max(0.75, right - left - 0.75), BAND - 2);
  }
}

function drawActive(
  context: Canvas2d,
  { row, column }: Cell,
  view: Span,
  layout: HeatLayout,
  palette: Palette,
): void {
  const { plot, rowHeight } = layout;
  const left = xOf(column, view, layout);
  if (left < plot.left - 1 || left > plot.right) return;
  const width = Math.max(3, xOf(column + 1, view, layout) - left);
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  context.strokeRect(left - 0.75, plot.top + row * rowHeight - 0.75, width + 1.5, rowHeight + 1.5);
}
