import type { Palette } from './palette.ts';
import { setFont, type Canvas2d, type Picture } from './picture.ts';

/** A picture in an exported file. */
export interface Plate {
  title: string;
  /** One sentence below the title. */
  caption: string;
  picture: Picture;
}

const MARGIN = 24;
const GAP = 28;
/** Browsers refuse larger canvases. */
const LARGEST_SIDE = 16_000;

/** Draws pictures one below the other as a PNG, `width` CSS pixels wide at twice the resolution, or less if it would be too large. */
export async function pngOf(plates: readonly Plate[], palette: Palette, width: number): Promise<Blob> {
  const inner = width - 2 * MARGIN;
  const measuring = new OffscreenCanvas(1, 1).getContext('2d');
  if (!measuring) throw new Error('pngOf: this browser has no 2D canvas');
  const heads = plates.map(({ caption }) => {
    setFont(measuring, palette, 400, 12);
    return linesOf(measuring, caption, inner);
  });
  const headHeight = (lines: readonly string[]) => 24 + lines.length * 17 + 8;
  const heights = plates.map(({ picture }, i) => headHeight(heads[i] ?? []) + picture.height(inner));
  const height = heights.reduce((sum, value) => sum + value + GAP, 2 * MARGIN - GAP);
  const ratio = Math.min(2, LARGEST_SIDE / height, LARGEST_SIDE / width);
  const canvas = new OffscreenCanvas(Math.ceil(width * ratio), Math.ceil(height * ratio));
  const context = canvas.getContext('2d');
  if (!context) throw new Error('pngOf: this browser has no 2D canvas');
  context.scale(ratio, ratio);
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, width, height);
  let top = MARGIN;
  for (const [i, { title, picture }] of plates.entries()) {
    const lines = heads[i] ?? [];
    drawHead(context, title, lines, top, palette);
    context.save();
    context.translate(MARGIN, top + headHeight(lines));
    picture.draw(context, { width: inner, height: picture.height(inner), palette }, null);
    context.restore();
    top += (heights[i] ?? 0) + GAP;
  }
  return canvas.convertToBlob({ type: 'image/png' });
}

function drawHead(
  context: Canvas2d,
  title: string,
  lines: readonly string[],
  top: number,
  palette: Palette,
): void {
  context.textAlign = 'left';
  context.textBaseline = 'top';
  setFont(context, palette, 600, 15);
  context.fillStyle = palette.text;
  context.fillText(title, MARGIN, top);
  setFont(context, palette, 400, 12);
  context.fillStyle = palette.muted;
  for (const [i, text] of lines.entries()) context.fillText(text, MARGIN, top + 24 + i * 17);
}

/** Wrapped at spaces, and between characters if there are none. */
function linesOf(context: Canvas2d, text: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.match(/\s*[^\s\u2e80-\uffff]+|\s*[\u2e80-\uffff]/gu) ?? []) {
    if (current !== '' && context.measureText(current + word).width > width) {
      lines.push(current);
      current = word.trimStart();
    } else current += word;
  }
  return current === '' ? lines : [...lines, current];
}
