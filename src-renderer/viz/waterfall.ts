import { totalOf } from './bars.ts';
import type { Colour } from './palette.ts';
import type { Picture } from './picture.ts';
import { rowsPicture, type PictureRow } from './rows.ts';

/** A stage of a duration; stages are consecutive. */
interface Stage extends PictureRow {
  ms: number;
  colour: Colour;
}

const BAR = 14;
const THINNEST = 1.5;

/** Stages one below the other, each starting where the previous one ended. */
export function waterfall(stages: readonly Stage[]): Picture {
  return rowsPicture(stages, {
    rowHeight: 26,
    left: (width) => Math.min(150, Math.max(92, width * 0.2)),
    right: 72,
    drawBar: (context, { colour }, index, middle, room, palette) => {
      context.fillStyle = palette.line;
      context.fillRect(room.left, middle, room.width, 1);
      const bar = layoutStages(stages, room.left, room.width)[index];
      if (!bar) return undefined;
      context.fillStyle = palette[colour];
      context.beginPath();
      context.roundRect(bar.x, middle - BAR / 2, bar.width, BAR, Math.min(3, bar.width / 2));
      context.fill();
      return undefined;
    },
  });
}

/** x starts at `left`, the total width is `room`; a stage of zero duration is a hairline. */
export function layoutStages(
  stages: readonly { ms: number }[],
  left: number,
  room: number,
): { x: number; width: number }[] {
  const total = totalOf(stages);
  let before = 0;
  return stages.map(({ ms }) => {
    const share = total > 0 ? Math.max(0, ms) / total : 0;
    const x = left + before * room;
    before += share;
    return { x: Math.min(x, left + room - THINNEST), width: Math.max(THINNEST, share * room) };
  });
}
