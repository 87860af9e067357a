import type { Font, Glyph } from './glyph.ts';
import type { Box, Matrix } from './matrix.ts';

/** What pdf.js tells of a page's drawing. */
export interface Drawing {
  operators: { fnArray: number[]; argsArray: unknown[] };
  fonts: { get(name: string): unknown; has(name: string): boolean };
  /** From the page's units to the page as it is shown, y upwards. */
  matrix: Matrix;
  /** The visible part of the page, as it is shown. */
  page: Box;
  /** Whether a layer is switched on. */
  isShown(layer: unknown): boolean;
  /** Whether an annotation's appearance is read as text. */
  readsAnnotation(id: string): boolean;
}

/** The graphics state (ISO 32000-2, 8.4) as far as it matters for text. */
export interface State {
  ctm: Matrix;
  /** The box around the clipping path. */
  clip: Box;
  /** Whether the clipping path is that box. */
  clipsToBox: boolean;
  font: Font | undefined;
  size: number;
  stretch: number;
  leading: number;
  letterSpacing: number;
  wordSpacing: number;
  rise: number;
  mode: number;
  fill: string | undefined;
  stroke: string | undefined;
  alpha: number;
  blends: boolean;
  /** Letters of the clipping path (9.3.6, modes 4 to 7): what is painted is seen through them. */
  letters: readonly Glyph[];
}
