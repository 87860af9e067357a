import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { middleOf, type Glyph } from './glyph.ts';
import { boxOf, intersect, keepsBoxes, pointOf, type Box, type Matrix } from './matrix.ts';

/** What covers a part of the page. */
export interface Paint {
  box: Box;
  /** "#rrggbb"; absent for pictures, patterns, and what is partly transparent. */
  colour?: string;
  /** Whether all of the box is covered by that colour. */
  solid: boolean;
  /** How many drawing operators came before it. */
  order: number;
}

/** A path (ISO 32000-2, 8.5) that is painted. */
interface Path {
  /** pdf.js's code of the operator that paints it. */
  how: number;
  /** pdf.js's codes and coordinates. */
  path: Float32Array;
  bounds: Float32Array;
  ctm: Matrix;
  clip: Box;
  /** Whether the clipping path is that box. */
  clipsToBox: boolean;
  /** Absent where it is a pattern, or partly transparent. */
  colour: string | undefined;
  order: number;
}

/** A horizontal line of the page, as tables have. */
export interface Rule {
  x0: number;
  x1: number;
  y: number;
}

/** A vertical line of the page, as between cells. */
export interface Upright {
  x: number;
  y0: number;
  y1: number;
}

/** More than these are a drawing, not the ground or the lines of text. */
const MAX_PAINTS = 2000;
const MAX_RULES = 4000;
const MAX_UPRIGHTS = 200;
/** A filled box that is lower than this is a line. */
const RULE_HEIGHT = 2.5;
/** Two colours are told apart if one channel differs by more than this. */
const SAME_COLOUR = 12;
const WHITE = '#ffffff';

/** The painted boxes and lines of one page. */
export class Paints {
  readonly boxes: Paint[] = [];
  readonly rules: Rule[] = [];
  readonly uprights: Upright[] = [];
  /** Of all pictures: a scan may come in strips. */
  pictureArea = 0;

  add(paint: Paint, mayBeRule = paint.solid): void {
    if (this.boxes.length < MAX_PAINTS) this.boxes.push(paint);
    const [x0, y0, x1, y1] = paint.box;
    if (mayBeRule && y1 - y0 < RULE_HEIGHT) this.addRule({ x0, x1, y: (y0 + y1) / 2 });
    else if (mayBeRule && x1 - x0 < RULE_HEIGHT) this.#addUpright({ x: (x0 + x1) / 2, y0, y1 });
  }

  addPath({ how, path, bounds, ctm, clip, clipsToBox, colour, order }: Path): void {
    if (FILLS.has(how)) {
      const box = intersect(boxOf(ctm, bounds as unknown as Box), clip);
      const fillsBox = colour !== undefined && isBox(path, ctm);
      const solid = fillsBox && clipsToBox;
      this.add({ box, solid, order, ...(colour !== undefined && { colour }) }, fillsBox);
    } else if (STROKES.has(how)) {
      for (const [from, to] of segments(path)) {
        const [x0, y0] = pointOf(ctm, ...from);
        const [x1, y1] = pointOf(ctm, ...to);
        if (Math.abs(y1 - y0) < 1) this.addRule({ x0: Math.min(x0, x1), x1: Math.max(x0, x1), y: y0 });
        else if (Math.abs(x1 - x0) < 1)
          this.#addUpright({ x: x0, y0: Math.min(y0, y1), y1: Math.max(y0, y1) });
      }
    }
  }

  addRule(rule: Rule): void {
    if (this.rules.length < MAX_RULES && rule.x1 - rule.x0 > 10) this.rules.push(rule);
  }

  /** Joins those that continue each other, as programs draw a line for each row. */
  #addUpright(upright: Upright): void {
    const { x, y0, y1 } = upright;
    const joined = this.uprights.find(
      (other) => Math.abs(other.x - x) < 1 && y0 <= other.y1 + 1 && y1 >= other.y0 - 1,
    );
    if (joined) {
      joined.y0 = Math.min(joined.y0, y0);
      joined.y1 = Math.max(joined.y1, y1);
    } else if (this.uprights.length < MAX_UPRIGHTS) this.uprights.push(upright);
  }

  /** Whether a character of this colour, drawn at that time, cannot be told from what is beneath it, or is covered by a later box. */
  hides(glyph: Glyph, colour: string | undefined, order: number): boolean {
    if (this.boxes.length >= MAX_PAINTS) return false;
    const [x, y] = middleOf(glyph);
    let ground: string | undefined = WHITE;
    for (const { box, colour: painted, solid, order: at } of this.boxes) {
      if (x < box[0] || x > box[2] || y < box[1] || y > box[3]) continue;
      if (at < order) ground = solid || painted === ground ? painted : undefined;
      else if (solid && painted !== undefined && box[3] - box[1] > glyph.size / 2) return true;
    }
    return colour !== undefined && ground !== undefined && isSame(colour, ground);
  }

  addPicture(box: Box, order: number): void {
    this.add({ box, solid: true, order });
    this.pictureArea += Math.max(0, box[2] - box[0]) * Math.max(0, box[3] - box[1]);
  }
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [parseInt(a.slice(1), 16), parseInt(b.slice(1), 16)];
  return [16, 8, 0].every((bits) => Math.abs(((x >> bits) & 255) - ((y >> bits) & 255)) <= SAME_COLOUR);
}

const FILLS = new Set<number>([
  OPS.fill,
  OPS.eoFill,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
]);
const STROKES = new Set<number>([OPS.stroke, OPS.closeStroke]);

/** pdf.js's codes in a path: move, line, curve, quadratic curve, close. */
const COORDINATES = [2, 2, 6, 4, 0];

function* segments(path: Float32Array): Generator<readonly [[number, number], [number, number]]> {
  let start: [number, number] = [0, 0];
  let at: [number, number] = [0, 0];
  for (let i = 0; i < path.length;) {
    const code = path[i] ?? 4;
    const count = COORDINATES[code] ?? 0;
    const to: [number, number] = count === 0 ? start : [path[i + count - 1] ?? 0, path[i + count] ?? 0];
    if (code === 1 || code === 4) yield [at, to];
    if (code === 0) start = to;
    at = to;
    i += count + 1;
  }
}

export function isBox(path: Float32Array, ctm: Matrix): boolean {
  if (!keepsBoxes(ctm)) return false;
  let sides = 0;
  for (let i = 0; i < path.length; i += (COORDINATES[path[i] ?? 4] ?? 0) + 1) {
    const code = path[i];
    if (code === 2 || code === 3 || (code === 0 && i > 0)) return false;
  }
  for (const [[x0, y0], [x1, y1]] of segments(path)) {
    if (Math.abs(x1 - x0) > 0.01 && Math.abs(y1 - y0) > 0.01) return false;
    sides++;
  }
  return sides >= 3;
}
