import type { Palette } from './palette.ts';
import { setFont, type Canvas2d, type Picture } from './picture.ts';
import { shortened } from './tokens/draw.ts';

/** A labelled row of a picture. */
export interface PictureRow {
  label: string;
  /** The row's figure, as text. */
  value: string;
}

interface RowsLayout<Row> {
  rowHeight: number;
  /** Width of the labels, left of the bars. */
  left: (width: number) => number;
  /** Room for the values, right of the bars. */
  right: number;
  /** Draws the bar of every row, and returns where its value starts; absent: values end at the right edge. */
  drawBar: (
    context: Canvas2d,
    row: Row,
    index: number,
    middle: number,
    room: { left: number; width: number },
    palette: Palette,
  ) => number | undefined;
}

/** Rows with bars, one below the other; the row pointed at is marked. */
export function rowsPicture<Row extends PictureRow>(
  rows: readonly Row[],
  { rowHeight, left: labelWidth, right, drawBar }: RowsLayout<Row>,
): Picture {
  return {
    items: rows.length,
    height: () => rows.length * rowHeight,
    hit: ({ y }) => {
      const row = Math.floor(y / rowHeight);
      return row >= 0 && row < rows.length ? row : null;
    },
    anchor: (item, { width }) => ({ x: labelWidth(width), y: (item + 1) * rowHeight }),
    draw: (context, { width, palette }, active) => {
      const left = labelWidth(width);
      const room = { left, width: Math.max(1, width - left - right) };
      context.textBaseline = 'middle';
      for (const [index, row] of rows.entries()) {
        const middle = (index + 0.5) * rowHeight;
        if (index === active) {
          context.fillStyle = palette.sunken;
          context.fillRect(0, index * rowHeight, width, rowHeight);
        }
        const end = drawBar(context, row, index, middle, room, palette);
        setFont(context, palette, 400, 12);
        context.fillStyle = palette.text;
        context.textAlign = 'left';
        context.fillText(shortened(context, row.label, left - 10), 4, middle);
        context.textAlign = end === undefined ? 'right' : 'left';
        context.fillText(row.value, end ?? width - 4, middle);
      }
    },
  };
}
