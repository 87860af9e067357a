import { normalizeUnicode } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** A drawn character, or several for a ligature. */
export interface Glyph {
  text: string;
  /** Along the direction of writing, from the origin of the page turned by `turn`. */
  x: number;
  end: number;
  /** Of the baseline, across the direction of writing, upwards. */
  y: number;
  size: number;
  /** Degrees counter-clockwise from left to right; 0 for nearly upright text. */
  turn: number;
  /** Whether all characters of the font are equally wide. */
  fixed: boolean;
  /** Why nobody sees it. */
  hidden: '' | 'mode' | 'unseen' | 'layer';
}

export interface Font {
  vertical?: boolean;
  isType3Font?: boolean;
  fallbackName?: string;
  fontMatrix?: readonly number[];
  bbox?: readonly number[];
}

export interface FontGlyph {
  unicode: string;
  width: number;
  isSpace: boolean;
  vmetric?: readonly number[] | null;
}

/** Text that is turned by less than this is upright, as in a scan that lay askew. */
const UPRIGHT_DEGREES = 7;
/** The height of letters; fonts of drawings (9.6.4) have units of their own. */
export function sizeOf({ isType3Font, bbox, fontMatrix }: Font, size: number): number {
  const drawn = ((bbox?.[3] ?? 0) - (bbox?.[1] ?? 0)) * (fontMatrix?.[3] ?? 0);
  return Math.abs(isType3Font && drawn !== 0 ? size * drawn : size);
}

/** Degrees, in steps of 90 where that is near. */
export function turnOf(angle: number): number {
  const degrees = Math.round((angle * 180) / Math.PI);
  const quarter = Math.round(degrees / 90) * 90;
  const turn = Math.abs(degrees - quarter) <= UPRIGHT_DEGREES ? quarter : degrees;
  return (turn + 360) % 360;
}

export function placed(
  start: readonly [number, number],
  end: readonly [number, number],
  turn: number,
): { x: number; end: number; y: number } {
  if (turn === 0) return { x: start[0], end: end[0], y: start[1] };
  const cos = Math.cos((turn * Math.PI) / 180);
  const sin = Math.sin((turn * Math.PI) / 180);
  return {
    x: start[0] * cos + start[1] * sin,
    end: end[0] * cos + end[1] * sin,
    y: start[1] * cos - start[0] * sin,
  };
}

/** Punctuation as it is drawn in vertical text. */
const UPRIGHT_FORMS = /[\ufe10-\ufe19\ufe35-\ufe44\ufe47\ufe48]/gu;

/** Ligatures as letters; no control characters; a soft hyphen that is drawn is a hyphen. */
export function textOf(unicode: string): string {
  // Most letters, at a tenth of the time.
  if (/^[ -~]*$/.test(unicode)) return unicode;
  return (normalizeUnicode(unicode) as string)
    .replace(UPRIGHT_FORMS, (sign) => sign.normalize('NFKC'))
    .replace(/\u00ad/g, '-')
    .replace(/(?!\s)\p{Cc}/gu, '');
}

/** The middle of a character on the page, not turned. */
export function middleOf({ x, end, y, size, turn }: Glyph): [number, number] {
  const along = (x + end) / 2;
  const across = y + size / 4;
  if (turn === 0) return [along, across];
  const cos = Math.cos((turn * Math.PI) / 180);
  const sin = Math.sin((turn * Math.PI) / 180);
  return [along * cos - across * sin, along * sin + across * cos];
}
