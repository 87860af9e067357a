import { bisectRight } from 'd3-array';
import { shade, type Palette } from '../palette.ts';
import type { Canvas2d } from '../picture.ts';
import type { TokenMapData } from './draw.ts';

/** The whole prompt as a strip, one column per pixel: its strongest token, and the number of outlined ones. */
interface OverviewColumns {
  strength: Float32Array;
  outlined: Uint16Array;
}

export function overviewColumns(
  strength: Float32Array,
  outlined: Uint8Array,
  width: number,
): OverviewColumns {
  const columns: OverviewColumns = {
    strength: new Float32Array(width).fill(NaN),
    outlined: new Uint16Array(width),
  };
  for (let token = 0; token < strength.length; token++) {
    const column = columnOf(token, strength.length, width);
    const value = strength[token] ?? NaN;
    const known = columns.strength[column] ?? NaN;
    if (!Number.isNaN(value) && !(known >= value)) columns.strength[column] = value;
    columns.outlined[column] = (columns.outlined[column] ?? 0) + (outlined[token] === 1 ? 1 : 0);
  }
  return columns;
}

export function columnOf(token: number, tokens: number, width: number): number {
  return Math.min(width - 1, Math.floor((token / Math.max(1, tokens)) * width));
}

export function tokenOfColumn(column: number, tokens: number, width: number): number {
  return Math.min(tokens - 1, Math.max(0, Math.floor((column / Math.max(1, width)) * tokens)));
}

const OVERVIEW_HEIGHT = 44;
const BAND = 5;
const TICKS = 5;

/** `seen`: the tokens visible in the map, [first, end). */
export function drawOverview(
  context: Canvas2d,
  data: TokenMapData,
  width: number,
  seen: readonly [number, number] | null,
  palette: Palette,
): void {
  const tokens = data.tokens.length;
  const columns = overviewColumns(data.strength, data.outlined, Math.max(1, Math.floor(width)));
  const bottom = OVERVIEW_HEIGHT - BAND - 2;
  const room = bottom - TICKS - 2;
  context.fillStyle = palette.sunken;
  context.fillRect(0, TICKS + 1, width, bottom - TICKS - 1);
  for (const [x, value] of columns.strength.entries()) {
    if (Number.isNaN(value)) continue;
    const height = Math.max(1.5, value * room);
    context.fillStyle = shade(palette, 0.25 + 0.75 * value);
    context.fillRect(x, bottom - height, 1, height);
  }
  context.fillStyle = palette.hkvd;
  for (const [x, count] of columns.outlined.entries()) if (count > 0) context.fillRect(x, 0, 1, TICKS);
  drawParts(context, data, width, palette);
  if (seen && tokens > 0) {
    const left = (seen[0] / tokens) * width;
    const right = (seen[1] / tokens) * width;
    context.strokeStyle = palette.text;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(4, right - left - 1.5), OVERVIEW_HEIGHT - 1.5);
  }
}

function drawParts(
  context: Canvas2d,
  { parts, tokens }: TokenMapData,
  width: number,
  palette: Palette,
): void {
  for (const { first, count, colour } of parts) {
    const left = (first / Math.max(1, tokens.length)) * width;
    const right = ((first + count) / Math.max(1, tokens.length)) * width;
    context.fillStyle = palette[colour];
    context.fillRect(left, OVERVIEW_HEIGHT - BAND, Math.max(0.75, right - left - 0.75), BAND);
  }
}

/** The part that a token belongs to; −1 before the first. */
export function partAt(parts: TokenMapData['parts'], token: number): number {
  return (
    bisectRight(
      parts.map(({ first }) => first),
      token,
    ) - 1
  );
}
