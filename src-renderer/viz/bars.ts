import type { Colour } from './palette.ts';
import type { Picture } from './picture.ts';
import { rowsPicture, type PictureRow } from './rows.ts';

/** A duration made of consecutive stages; its value, with the total, is after the bar. */
export interface TimedRow extends PictureRow {
  stages: readonly { ms: number; colour: Colour }[];
}

const BAR = 13;

/** Durations of several methods, one below the other on one scale; each bar consists of stages. */
export function bars(rows: readonly TimedRow[]): Picture {
  return rowsPicture(rows, {
    rowHeight: 30,
    left: (width) => Math.min(260, Math.max(110, width * 0.36)),
    right: 150,
    drawBar: (context, { stages }, index, middle, room, palette) => {
      const pieces = layoutBars(rows, room.width)[index] ?? [];
      let end = room.left;
      for (const [i, { x, width }] of pieces.entries()) {
        context.fillStyle = palette[stages[i]?.colour ?? 'muted'];
        context.fillRect(room.left + x, middle - BAR / 2, width, BAR);
        end = room.left + x + width;
      }
      return end + 8;
    },
  });
}

/** All rows on one scale: the longest takes `room`. Stages shorter than a pixel are kept, so that sums stay correct. */
export function layoutBars(
  rows: readonly { stages: readonly { ms: number }[] }[],
  room: number,
): { x: number; width: number }[][] {
  const longest = Math.max(1e-9, ...rows.map(({ stages }) => totalOf(stages)));
  return rows.map(({ stages }) => {
    let x = 0;
    return stages.map(({ ms }) => {
      const piece = { x, width: (Math.max(0, ms) / longest) * room };
      x += piece.width;
      return piece;
    });
  });
}

/** Sum of the durations, in milliseconds. */
export function totalOf(stages: readonly { ms: number }[]): number {
  return stages.reduce((sum, { ms }) => sum + Math.max(0, ms), 0);
}
