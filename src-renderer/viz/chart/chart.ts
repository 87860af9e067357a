import { drawAxes, drawLegend, layoutLegend, LEGEND_LINE, line, type LegendEntry } from '../axes.ts';
import { faded, type Palette } from '../palette.ts';
import { setFont, type Canvas2d, type Frame, type Picture } from '../picture.ts';
import {
  layoutChart,
  nearestItem,
  valueAt,
  type ChartLayout,
  type ChartSpec,
  type Series,
} from './layout.ts';

const PLOT_HEIGHT = 170;
const BELOW = 38;
/** The y axis label, and below it the labels of rules, lie between legend and plot. */
const Y_LABEL = 24;
const RULE_LABELS = 15;
/** Approximate letter width: the number of legend lines must be known before there is a canvas. */
const LETTER = 6.4;

/** Lines, bands and areas over a shared x axis. */
export function chart(spec: ChartSpec): Picture {
  const legendHeight = (width: number) => {
    const places = layoutLegend(named(spec), width, estimateWidth);
    return ((places.at(-1)?.line ?? 0) + 1) * LEGEND_LINE;
  };
  const layout = (frame: Frame) =>
    layoutChart(spec, frame, legendHeight(frame.width) + Y_LABEL + ruleLabels(spec));
  return {
    items: spec.items.length,
    height: (width) =>
      legendHeight(width) + Y_LABEL + ruleLabels(spec) + (spec.height ?? PLOT_HEIGHT) + BELOW,
    draw: (context, frame, active) => draw(context, spec, layout(frame), frame, active),
    hit: (point, frame) => nearestItem(spec, layout(frame), point),
    anchor: (item, frame) => {
      const { x, plot } = layout(frame);
      return { x: x(spec.items[item] ?? 0) + 28, y: plot.top - 4 };
    },
  };
}

function ruleLabels({ rules }: ChartSpec): number {
  return rules.length > 0 ? RULE_LABELS : 0;
}

/** A series without a name belongs to another one. */
function named({ series }: ChartSpec): Series[] {
  return series.filter(({ label }) => label !== '');
}

function estimateWidth(text: string): number {
  return text.length * LETTER + (text.match(/[\u2e80-\uffff]/gu)?.length ?? 0) * (11.5 - LETTER);
}

function draw(
  context: Canvas2d,
  spec: ChartSpec,
  layout: ChartLayout,
  { width, palette }: Frame,
  active: number | null,
): void {
  const { plot } = layout;
  drawLegend(context, named(spec).map((series) => legendEntry(series, palette)), 0, 0, width, palette); // prettier-ignore
  drawAxes(context, plot, layout.xTicks, layout.yTicks, palette);
  drawAxisLabels(context, spec, layout, palette);
  for (const series of spec.series) drawSeries(context, series, layout, palette);
  drawRules(context, spec, layout, palette);
  for (const { x, y, colour, radius = 5 } of spec.dots) {
    drawDot(context, layout.x(x), layout.y(y), palette[colour], palette.surface, radius);
  }
  const at = active === null ? undefined : spec.items[active];
  if (at === undefined) return;
  context.strokeStyle = palette.muted;
  context.lineWidth = 1;
  line(context, layout.x(at), plot.top, layout.x(at), plot.bottom);
  for (const series of spec.series) {
    const value = valueAt(series, at);
    if (value && series.kind !== 'band')
      drawDot(context, layout.x(at), layout.y(value.y), palette[series.colour], palette.surface, 3.5);
  }
}

function legendEntry({ label, colour, kind }: Series, palette: Palette): LegendEntry {
  if (kind === 'band' || kind === 'area')
    return { label, colour: faded(palette[colour], kind === 'band' ? 0.22 : 0.4), mark: 'area' };
  return { label, colour: palette[colour], mark: kind };
}

function drawAxisLabels(context: Canvas2d, spec: ChartSpec, { plot }: ChartLayout, palette: Palette): void {
  const { x, y } = spec;
  setFont(context, palette);
  context.fillStyle = palette.muted;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'right';
  context.fillText(x.label, plot.right, plot.bottom + 33);
  context.textAlign = 'left';
  context.fillText(y.label, 0, plot.top - 8 - ruleLabels(spec));
}

function drawSeries(
  context: Canvas2d,
  { kind, points, colour }: Series,
  layout: ChartLayout,
  palette: Palette,
): void {
  if (points.length === 0) return;
  const { x, y, plot } = layout;
  const filled = kind === 'band' || kind === 'area';
  context.save();
  context.beginPath();
  for (const point of points) context.lineTo(x(point.x), y(point.y));
  if (filled) {
    for (const point of points.toReversed())
      context.lineTo(x(point.x), kind === 'area' ? plot.bottom : y(point.low ?? point.y));
    context.fillStyle = faded(palette[colour], kind === 'band' ? 0.18 : 0.28);
    context.fill();
  } else {
    context.setLineDash(kind === 'dashed' ? [5, 4] : []);
    context.strokeStyle = palette[colour];
    context.lineWidth = 2;
    context.lineJoin = 'round';
    context.stroke();
  }
  context.restore();
  const [only] = points;
  // A single point makes no line.
  if (points.length === 1 && only && !filled)
    drawDot(context, x(only.x), y(only.y), palette[colour], palette.surface, 4);
}

function drawRules(
  context: Canvas2d,
  { rules }: ChartSpec,
  { plot, x }: ChartLayout,
  palette: Palette,
): void {
  context.save();
  setFont(context, palette, 600, 10.5);
  context.textBaseline = 'alphabetic';
  let free = plot.left;
  for (const { x: at, label, colour } of rules) {
    const left = x(at);
    context.strokeStyle = palette[colour];
    context.fillStyle = palette[colour];
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    line(context, left, plot.top, left, plot.bottom);
    const width = context.measureText(label).width;
    const start = Math.min(left, plot.right - width);
    // Labels that would overlap are omitted; tooltips name them.
    if (start < free) continue;
    context.textAlign = 'left';
    context.fillText(label, start, plot.top - 8);
    free = start + width + 8;
  }
  context.restore();
}

function drawDot(
  context: Canvas2d,
  x: number,
  y: number,
  colour: string,
  ring: string,
  radius: number,
): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = ring;
  context.lineWidth = 1.5;
  context.stroke();
}
