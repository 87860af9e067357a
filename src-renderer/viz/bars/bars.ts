import type { Colour } from '../palette.ts';
import { setFont, type Canvas2d, type Frame, type Picture } from '../picture.ts';
import { shortened } from '../tokens/draw.ts';
import { BAR_ROW, barAt, layoutBars, type TimedRow } from './layout.ts';

export interface ColouredRow extends TimedRow {
  stages: readonly { ms: number; colour: Colour }[];
}

/** Space after the longest bar for the row's label. */
const VALUES = 150;
const BAR = 13;

/** Durations of several methods, one below the other on one scale; each bar consists of stages. */
export function bars(rows: readonly ColouredRow[]): Picture {
  return {
    items: rows.length,
    height: () => rows.length * BAR_ROW,
    draw: (context, frame, active) => draw(context, rows, frame, active),
    hit: ({ y }) => barAt(rows, y),
    anchor: (item, { width }) => ({ x: labelWidth(width), y: (item + 1) * BAR_ROW }),
  };
}

function labelWidth(width: number): number {
  return Math.min(260, Math.max(110, width * 0.36));
}

function draw(
  context: Canvas2d,
  rows: readonly ColouredRow[],
  { width, palette }: Frame,
  active: number | null,
): void {
  const left = labelWidth(width);
  const pieces = layoutBars(rows, Math.max(1, width - left - VALUES));
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const [row, { label, value, stages }] of rows.entries()) {
    const [top, middle] = [row * BAR_ROW, row * BAR_ROW + BAR_ROW / 2];
    if (row === active) {
      context.fillStyle = palette.sunken;
      context.fillRect(0, top, width, BAR_ROW);
    }
    let end = left;
    for (const [i, { x, width: wide }] of (pieces[row] ?? []).entries()) {
      context.fillStyle = palette[stages[i]?.colour ?? 'muted'];
      context.fillRect(left + x, middle - BAR / 2, wide, BAR);
      end = left + x + wide;
    }
    setFont(context, palette, 400, 12);
    context.fillStyle = palette.text;
    context.fillText(shortened(context, label, left - 10), 4, middle);
    context.fillText(value, end + 8, middle);
  }
}
