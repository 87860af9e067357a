import type { Palette } from '../palette.ts';
import type { Picture } from '../picture.ts';
import { drawTokens, tokenMetrics, type TokenMapData } from './draw.ts';
import { layoutTokens } from './layout.ts';

/** The whole map, for files; on screen TokenMap draws only the visible part. */
export function tokenPicture(data: TokenMapData, palette: Palette): Picture {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) throw new Error('tokenPicture: this browser has no 2D canvas');
  const metrics = tokenMetrics(context, palette);
  const layout = (width: number) => layoutTokens(data.tokens, data.parts, width, metrics);
  return {
    items: 0,
    height: (width) => layout(width).height,
    draw: (target, { width, height }) =>
      drawTokens(
        target,
        layout(width),
        data,
        { scrollTop: 0, height, active: null, selection: null },
        palette,
      ),
    hit: () => null,
    anchor: () => ({ x: 0, y: 0 }),
  };
}
