import { drawLegend, hatch, line, type LegendEntry } from '../axes.ts';
import { faded, type Palette } from '../palette.ts';
import { setFont, type Canvas2d, type Frame, type Picture } from '../picture.ts';
import type { Span } from '../span.ts';
import {
  GANTT_TOP,
  layoutGantt,
  rowAt,
  rowHeight,
  type GanttBar,
  type GanttLayout,
  type LayerTimes,
} from './layout.ts';

export interface GanttWords {
  load: string;
  compute: string;
  wait: string;
  format: (ms: number) => string;
}

/** Loading and computing of every layer over time; one row per layer, loading in the upper half, computing in the lower. */
export function gantt(layers: readonly LayerTimes[], view: Span, words: GanttWords): Picture {
  return {
    items: layers.length,
    height: () => GANTT_TOP + layers.length * rowHeight(layers.length) + 4,
    draw: (context, frame, active) =>
      draw(context, layers, layoutGantt(layers, view, frame.width, words.format), words, frame, active),
    hit: ({ y }) => rowAt(y, layers.length),
    anchor: (item, { width }) => ({
      x: width * 0.35,
      y: GANTT_TOP + (item + 1) * rowHeight(layers.length),
    }),
  };
}

function draw(
  context: Canvas2d,
  layers: readonly LayerTimes[],
  layout: GanttLayout,
  words: GanttWords,
  { width, height, palette }: Frame,
  active: number | null,
): void {
  drawLegend(context, legend(words, palette), 0, 0, width, palette);
  drawTime(context, layout, height, palette);
  drawLabels(context, layers, layout, width, active, palette);
  for (const bar of layout.bars) drawBar(context, bar, layout.rowHeight, palette);
}

function legend({ load, compute, wait }: GanttWords, palette: Palette): LegendEntry[] {
  return [
    { label: load, colour: palette.load, mark: 'area' },
    { label: compute, colour: palette.compute, mark: 'area' },
    { label: wait, colour: palette.muted, mark: 'hatch' },
  ];
}

function drawTime(context: Canvas2d, { ticks }: GanttLayout, height: number, palette: Palette): void {
  setFont(context, palette);
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.lineWidth = 1;
  for (const { at, label } of ticks) {
    context.strokeStyle = palette.line;
    line(context, at, GANTT_TOP - 4, at, height);
    context.fillStyle = palette.muted;
    context.fillText(label, Math.max(at, 16), GANTT_TOP - 8);
  }
}

function drawLabels(
  context: Canvas2d,
  layers: readonly LayerTimes[],
  { rowHeight: height, left }: GanttLayout,
  width: number,
  active: number | null,
  palette: Palette,
): void {
  setFont(context, palette, 400, Math.min(11, Math.max(8, height - 2)));
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const every = height >= 11 ? 1 : Math.ceil(12 / height);
  for (const [row, { layer }] of layers.entries()) {
    const y = GANTT_TOP + row * height;
    if (row === active) {
      context.fillStyle = palette.sunken;
      context.fillRect(0, y, width, height);
    }
    if (row % every !== 0 && row !== active) continue;
    context.fillStyle = row === active ? palette.text : palette.muted;
    context.fillText(String(layer), left - 8, y + height / 2);
  }
}

function drawBar(
  context: Canvas2d,
  { row, lane, x, width }: GanttBar,
  height: number,
  palette: Palette,
): void {
  const top = GANTT_TOP + row * height;
  const inset = height >= 12 ? 1.5 : 0.5;
  const split = top + inset + (height - 2 * inset) * 0.42;
  if (lane === 'wait')
    return hatch(
      context,
      { left: x, top: split, right: x + width, bottom: top + height - inset },
      faded(palette.muted, 0.7),
    );
  context.fillStyle = palette[lane];
  const [from, to] = lane === 'load' ? [top + inset, split - 0.5] : [split, top + height - inset];
  context.fillRect(x, from, width, to - from);
}
