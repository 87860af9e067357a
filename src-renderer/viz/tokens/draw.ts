import { faded, shade, type Colour, type Palette } from '../palette.ts';
import { setFont, type Canvas2d } from '../picture.ts';
import { rowsWithin, type MapPart, type Row, type TokenLayout, type TokenMetrics } from './layout.ts';

export interface LabelledPart extends MapPart {
  title: string;
  /** Drawn at the right end of the heading. */
  note: string;
  colour: Colour;
  /** Drawn fainter: text that did not come from a cache. */
  quiet: boolean;
}

export interface TokenMapData {
  tokens: readonly string[];
  parts: readonly LabelledPart[];
  /** By token, 0 to 1; NaN if unknown. */
  strength: Float32Array;
  /** By token: 1 outlined, 2 outlined faintly. */
  outlined: Uint8Array;
}

interface TokenView {
  /** Scroll offset and height of the viewport. */
  scrollTop: number;
  height: number;
  active: number | null;
  /** Selected tokens, [first, end). */
  selection: readonly [number, number] | null;
}

const TEXT_SIZE = 13;
const BOX_INSET = 2;

export function tokenMetrics(context: Canvas2d, palette: Palette): TokenMetrics {
  const widths = new Map<string, number>();
  setFont(context, palette, 400, TEXT_SIZE);
  const { font } = context;
  return {
    measure(text) {
      let width = widths.get(text);
      if (width === undefined) {
        context.font = font;
        width = context.measureText(text).width;
        widths.set(text, width);
      }
      return width;
    },
    lineHeight: 22,
    headingHeight: 26,
    partGap: 10,
    gutter: 14,
    rightPadding: 10,
  };
}

export function drawTokens(
  context: Canvas2d,
  layout: TokenLayout,
  data: TokenMapData,
  view: TokenView,
  palette: Palette,
): void {
  const [first, end] = rowsWithin(layout, view.scrollTop, view.scrollTop + view.height);
  context.save();
  context.translate(0, -view.scrollTop);
  context.textBaseline = 'middle';
  for (const row of layout.rows.slice(first, end)) {
    const part = data.parts[row.part];
    if (!part) continue;
    context.fillStyle = palette[part.colour];
    if (row.kind === 'heading') drawHeading(context, row, part, layout.width, palette);
    else {
      context.fillRect(2, row.y, 3, row.height);
      drawRow(context, row, part, layout, data, view, palette);
    }
  }
  context.restore();
}

function drawHeading(context: Canvas2d, row: Row, part: LabelledPart, width: number, palette: Palette): void {
  const middle = row.y + row.height / 2;
  context.fillRect(2, row.y + 4, 3, row.height - 4);
  setFont(context, palette, 400, 11.5);
  const noteWidth = context.measureText(part.note).width;
  const room = width - 14 - 10 - 16;
  const showNote = noteWidth < room * 0.62;
  context.fillStyle = palette.muted;
  context.textAlign = 'right';
  if (showNote) context.fillText(part.note, width - 10, middle);
  context.textAlign = 'left';
  setFont(context, palette, 600, 11.5);
  context.fillStyle = palette[part.colour];
  context.fillText(shortened(context, part.title, room - (showNote ? noteWidth : 0)), 14, middle);
}

function drawRow(
  context: Canvas2d,
  row: Row,
  part: LabelledPart,
  layout: TokenLayout,
  { strength, outlined }: TokenMapData,
  { active, selection }: TokenView,
  palette: Palette,
): void {
  setFont(context, palette, 400, TEXT_SIZE);
  const top = row.y + BOX_INSET;
  const height = row.height - 2 * BOX_INSET;
  const middle = row.y + row.height / 2 + 0.5;
  const textColour = part.quiet ? palette.muted : palette.text;
  for (let token = row.first; token < row.end; token++) {
    const x = layout.x[token] ?? 0;
    const width = layout.widths[token] ?? 0;
    const value = strength[token] ?? NaN;
    if (!Number.isNaN(value)) {
      context.fillStyle = shade(palette, value);
      context.fillRect(x, top, width - 0.5, height);
    }
    if (selection && token >= selection[0] && token < selection[1]) {
      context.fillStyle = faded(palette.accent, 0.35);
      context.fillRect(x, row.y, width, row.height);
    }
    const outline = outlined[token] ?? 0;
    if (outline > 0) {
      context.strokeStyle = outline === 1 ? palette.hkvd : faded(palette.muted, 0.6);
      context.lineWidth = 1.25;
      context.strokeRect(x + 0.5, top + 0.5, width - 1.5, height - 1);
    }
    context.fillStyle = textColour;
    context.fillText(layout.shown[token] ?? '', x, middle, width);
    if (token === active) {
      context.strokeStyle = palette.text;
      context.lineWidth = 2;
      context.strokeRect(x - 1, row.y + 1, width + 1.5, row.height - 2);
    }
  }
}

/** A text truncated to fit, with an ellipsis. */
export function shortened(context: Canvas2d, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : `${text.slice(0, low)}…`;
}
