import type { Colour } from '../palette.ts';
import { setFont, type Canvas2d, type Frame, type Picture } from '../picture.ts';
import { shortened } from '../tokens/draw.ts';
import { layoutStages, stageAt, STAGE_HEIGHT, type Stage } from './layout.ts';

interface ColouredStage extends Stage {
  colour: Colour;
  /** The duration as text, at the right end. */
  value: string;
}

const VALUES = 72;

/** Stages one below the other, each starting where the previous one ended. */
export function waterfall(stages: readonly ColouredStage[]): Picture {
  return {
    items: stages.length,
    height: () => stages.length * STAGE_HEIGHT,
    draw: (context, frame, active) => draw(context, stages, frame, active),
    hit: ({ y }) => stageAt(stages, y),
    anchor: (item, { width }) => ({ x: labelWidth(width), y: (item + 1) * STAGE_HEIGHT }),
  };
}

function labelWidth(width: number): number {
  return Math.min(150, Math.max(92, width * 0.2));
}

function draw(
  context: Canvas2d,
  stages: readonly ColouredStage[],
  { width, palette }: Frame,
  active: number | null,
): void {
  const left = labelWidth(width);
  const bars = layoutStages(stages, left, Math.max(1, width - left - VALUES));
  context.textBaseline = 'middle';
  for (const [i, { label, colour, value }] of stages.entries()) {
    const bar = bars[i];
    if (!bar) continue;
    const middle = bar.y + STAGE_HEIGHT / 2;
    if (i === active) {
      context.fillStyle = palette.sunken;
      context.fillRect(0, bar.y, width, STAGE_HEIGHT);
    }
    context.fillStyle = palette.line;
    context.fillRect(left, middle, Math.max(0, width - left - VALUES), 1);
    context.fillStyle = palette[colour];
    context.beginPath();
    context.roundRect(bar.x, bar.y + 6, bar.width, STAGE_HEIGHT - 12, Math.min(3, bar.width / 2));
    context.fill();
    setFont(context, palette, 400, 12);
    context.fillStyle = palette.text;
    context.textAlign = 'left';
    context.fillText(shortened(context, label, left - 10), 4, middle);
    context.textAlign = 'right';
    context.fillText(value, width - 4, middle);
  }
}
