import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { placed, sizeOf, textOf, turnOf, type Font, type FontGlyph, type Glyph } from './glyph.ts';
import {
  boxOf,
  IDENTITY,
  intersect,
  keepsBoxes,
  multiply,
  pointOf,
  type Box,
  type Matrix,
} from './matrix.ts';
import type { Drawing, State } from './drawing.ts';
import { isBox, Paints } from './paint.ts';

const BLACK = '#000000';
/** Letters lower than this, in points, cannot be read. */
const MIN_SIZE = 1;
/** Letter spacing, in font sizes, that may be a space. */
const WIDE_TRACKING = 0.15;
/** How far outside of the page, in points, text may begin and still be seen. */
const PAGE_EDGE = 2;
/** No page for people has more. */
const MAX_GLYPHS = 1_000_000;
/** A page with more pairs of text and boxes is not checked for covered text: it would take seconds. */
const MAX_COMPARISONS = 50_000_000;

/** The characters of a page in the order in which they are drawn, with what is painted beneath them. */
export function drawnGlyphs(drawing: Drawing): { glyphs: Glyph[]; paints: Paints } {
  const reader = new Reader(drawing);
  const { fnArray, argsArray } = drawing.operators;
  fnArray.forEach((fn, i) => reader.run(fn, (argsArray[i] ?? []) as unknown[]));
  return { glyphs: reader.finish(), paints: reader.paints };
}

interface Run {
  glyphs: Glyph[];
  colour: string | undefined;
  order: number;
}

class Reader {
  readonly paints = new Paints();
  readonly #drawing: Drawing;
  readonly #runs: Run[] = [];
  readonly #stack: State[] = [];
  #state: State;
  #text: Matrix = IDENTITY;
  #line: [number, number] = [0, 0];
  /** Letters of the open text object that become part of the clipping path at its end. */
  #clipping: Glyph[] = [];
  #pen: [number, number] = [0, 0];
  /** Open marked content: whether its layer is off, and its replacement text with the number of glyphs before it. */
  readonly #marks: { off: boolean; replacement?: string; from: number }[] = [];
  #off = 0;
  /** Depth of groups and annotations that are not drawn. */
  #skipped = 0;
  readonly #groups: boolean[] = [];
  #pendingClip = false;
  /** The letter spacing that letters were drawn back by. */
  #drawnBack = 0;
  #order = 0;
  #count = 0;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.#state = this.#initial();
  }

  #initial(): State {
    const { matrix: ctm, page } = this.#drawing;
    const clip: Box = [page[0] - PAGE_EDGE, page[1] - PAGE_EDGE, page[2] + PAGE_EDGE, page[3] + PAGE_EDGE];
    return {
      ...{
        ctm,
        clip,
        clipsToBox: true,
        letters: [],
        font: undefined,
        size: 0,
        stretch: 1,
        leading: 0,
        letterSpacing: 0,
        wordSpacing: 0,
      },
      ...{ rise: 0, mode: 0, fill: BLACK, stroke: BLACK, alpha: 1, blends: false },
    };
  }

  run(fn: number, args: unknown[]): void {
    this.#order++;
    this.#operators[fn]?.(args as never);
  }

  /** Judges what is seen now that everything is painted. */
  finish(): Glyph[] {
    const isJudged = this.#count * this.paints.boxes.length < MAX_COMPARISONS;
    for (const { glyphs, colour, order } of isJudged ? this.#runs : []) {
      // Nothing painted, and no white text, as on most pages.
      if (this.paints.boxes.length === 0 && colour === BLACK) continue;
      for (const glyph of glyphs)
        if (glyph.hidden === '' && this.paints.hides(glyph, colour, order)) glyph.hidden = 'unseen';
    }
    return this.#runs.flatMap(({ glyphs }) => glyphs);
  }

  readonly #operators: Record<number, (args: never) => void> = {
    [OPS.save]: () => this.#save(),
    [OPS.restore]: () => this.#restore(),
    [OPS.transform]: (args: number[]) => this.#transform(args as unknown as Matrix),
    [OPS.setGState]: ([entries]: [readonly (readonly [string, unknown])[]]) => this.#setState(entries),
    [OPS.setFont]: ([name, size]: [string, number]) => this.#setFont(name, size),
    [OPS.setCharSpacing]: ([value]: [number]) => (this.#state.letterSpacing = value),
    [OPS.setWordSpacing]: ([value]: [number]) => (this.#state.wordSpacing = value),
    [OPS.setHScale]: ([value]: [number]) => (this.#state.stretch = value / 100),
    [OPS.setLeading]: ([value]: [number]) => (this.#state.leading = value),
    [OPS.setTextRenderingMode]: ([value]: [number]) => (this.#state.mode = value),
    [OPS.setTextRise]: ([value]: [number]) => (this.#state.rise = value),
    [OPS.setFillRGBColor]: ([value]: [string]) => (this.#state.fill = value),
    [OPS.setFillColorN]: () => (this.#state.fill = undefined),
    [OPS.setStrokeRGBColor]: ([value]: [string]) => (this.#state.stroke = value),
    [OPS.setStrokeColorN]: () => (this.#state.stroke = undefined),
    [OPS.beginText]: () => this.#setMatrix(IDENTITY),
    [OPS.endText]: () => this.#clipToLetters(),
    [OPS.setTextMatrix]: ([matrix]: [Matrix]) => this.#setMatrix(matrix),
    [OPS.moveText]: ([x, y]: [number, number]) => this.#move(x, y),
    [OPS.setLeadingMoveText]: ([x, y]: [number, number]) => {
      this.#state.leading = -y;
      this.#move(x, y);
    },
    [OPS.nextLine]: () => this.#move(0, -this.#state.leading),
    [OPS.showText]: ([glyphs]: [readonly (FontGlyph | number)[]]) => this.#show(glyphs),
    [OPS.clip]: () => (this.#pendingClip = true),
    [OPS.eoClip]: () => (this.#pendingClip = true),
    [OPS.constructPath]: ([how, [path], box]: [number, [Float32Array | null], Float32Array | null]) =>
      this.#paint(how, path, box),
    [OPS.shadingFill]: () => this.#shade(),
    [OPS.paintImageXObject]: () => this.#picture(),
    [OPS.paintFormXObjectBegin]: ([matrix, box]: [Matrix | null, Box | null]) => {
      this.#save();
      if (matrix) this.#transform(matrix);
      if (box) this.#clip(box);
    },
    [OPS.paintFormXObjectEnd]: () => this.#restore(),
    [OPS.beginGroup]: ([group]: [{ smask?: unknown; bbox?: Box; matrix?: Matrix }]) =>
      this.#beginGroup(group),
    [OPS.endGroup]: () => {
      this.#skip(this.#groups.pop() === true ? -1 : 0);
      this.#restore();
    },
    [OPS.beginAnnotation]: ([id, box, place, matrix]: [string, Box | null, Matrix, Matrix]) =>
      this.#beginAnnotation(id, box, [place, matrix]),
    [OPS.endAnnotation]: () => {
      this.#skip(this.#groups.pop() === true ? -1 : 0);
      this.#restore();
    },
    [OPS.beginMarkedContent]: () => this.#mark({ off: false, from: this.#runs.length }),
    [OPS.beginMarkedContentProps]: ([tag, value]: [string, unknown]) =>
      this.#mark({
        off: tag === 'OC' && !this.#drawing.isShown(value),
        from: this.#runs.length,
        ...(tag !== 'OC' && typeof value === 'string' && value !== '' && { replacement: value }),
      }),
    [OPS.endMarkedContent]: () => this.#unmark(),
  };

  #save(): void {
    this.#stack.push({ ...this.#state });
  }

  #restore(): void {
    this.#state = this.#stack.pop() ?? this.#state;
  }

  #transform(matrix: Matrix): void {
    this.#state.ctm = multiply(this.#state.ctm, matrix);
  }

  #clip(bounds: Box, isWhole = true, ctm = this.#state.ctm): void {
    this.#state.clip = intersect(this.#state.clip, boxOf(ctm, bounds));
    if (!isWhole || !keepsBoxes(ctm)) this.#state.clipsToBox = false;
  }

  #clipToLetters(): void {
    if (this.#clipping.length === 0) return;
    this.#state.letters = this.#clipping;
    this.#state.clipsToBox = false;
    this.#clipping = [];
  }

  #showLetters(): void {
    for (const glyph of this.#state.letters) if (glyph.hidden === 'mode') glyph.hidden = '';
  }

  #skip(by: number): void {
    this.#skipped += by;
  }

  #setState(entries: readonly (readonly [string, unknown])[]): void {
    for (const [key, value] of entries) {
      if (key === 'ca') this.#state.alpha = Number(value);
      else if (key === 'BM') this.#state.blends = value !== 'source-over' && value !== 'Normal';
      else if (key === 'Font') this.#setFont(...(value as [string, number]));
    }
  }

  #setFont(name: string, size: number): void {
    const { fonts } = this.#drawing;
    this.#state.font = fonts.has(name) ? (fonts.get(name) as Font) : undefined;
    this.#state.size = size;
  }

  #setMatrix(matrix: Matrix): void {
    this.#text = matrix;
    this.#line = [0, 0];
    this.#pen = [0, 0];
  }

  #move(x: number, y: number): void {
    this.#line = [this.#line[0] + x, this.#line[1] + y];
    this.#pen = [...this.#line];
  }

  /** The group of a soft mask (11.5) is not seen itself. */
  #beginGroup({ smask, bbox, matrix }: { smask?: unknown; bbox?: Box; matrix?: Matrix }): void {
    this.#save();
    this.#groups.push(Boolean(smask));
    this.#skip(smask ? 1 : 0);
    if (bbox) this.#clip(bbox, true, matrix ? multiply(this.#state.ctm, matrix) : this.#state.ctm);
  }

  #beginAnnotation(id: string, box: Box | null, matrices: readonly Matrix[]): void {
    this.#save();
    this.#state = this.#initial();
    const skips = !this.#drawing.readsAnnotation(id);
    this.#groups.push(skips);
    this.#skip(skips ? 1 : 0);
    if (box) this.#clip(box);
    for (const matrix of matrices) this.#transform(matrix);
  }

  #mark(mark: { off: boolean; replacement?: string; from: number }): void {
    this.#marks.push(mark);
    if (mark.off) this.#off++;
  }

  /** Puts the replacement text in the place of what was drawn since the mark (14.9.4). */
  #unmark(): void {
    const mark = this.#marks.pop();
    if (mark?.off) this.#off--;
    if (mark?.replacement === undefined) return;
    const [first, ...rest] = this.#runs.slice(mark.from).flatMap(({ glyphs }) => glyphs);
    if (!first) return;
    first.text = mark.replacement;
    for (const glyph of rest) {
      glyph.text = '';
      if (Math.abs(glyph.y - first.y) < first.size / 2) first.end = Math.max(first.end, glyph.end);
    }
  }

  #paint(how: number, path: Float32Array | null, bounds: Float32Array | null): void {
    const { ctm, fill, alpha, blends, clip, clipsToBox } = this.#state;
    const clips = this.#pendingClip;
    this.#pendingClip = false;
    if (path === null || bounds === null) return;
    if (this.#isDrawn()) {
      const colour = alpha === 1 && !blends ? fill : undefined;
      this.paints.addPath({ how, path, bounds, ctm, clip, clipsToBox, colour, order: this.#order });
      if (how !== OPS.endPath) this.#showLetters();
    }
    if (clips) this.#clip(bounds as unknown as Box, isBox(path, ctm));
  }

  /** Shadings have many colours, so text on them is taken to be seen. */
  #shade(): void {
    if (!this.#isDrawn()) return;
    this.#showLetters();
    this.paints.add({ box: this.#state.clip, solid: true, order: this.#order });
  }

  #picture(): void {
    const box = intersect(boxOf(this.#state.ctm, [0, 0, 1, 1]), this.#state.clip);
    if (!this.#isDrawn()) return;
    this.#showLetters();
    this.paints.addPicture(box, this.#order);
  }

  #isDrawn(): boolean {
    return this.#skipped === 0 && this.#off === 0;
  }

  #show(glyphs: readonly (FontGlyph | number)[]): void {
    const { font, size, stretch, ctm } = this.#state;
    if (!font || this.#skipped > 0 || this.#count > MAX_GLYPHS) return;
    const matrix = multiply(ctm, this.#text);
    const vertical = font.vertical === true;
    const sign = Math.sign(size * stretch) || 1;
    const along = vertical ? [-matrix[2], -matrix[3]] : [matrix[0] * sign, matrix[1] * sign];
    const turn = turnOf(Math.atan2(along[1] ?? 0, along[0] ?? 0));
    const height = sizeOf(font, size) * Math.hypot(...(vertical ? matrix.slice(0, 2) : matrix.slice(2, 4)));
    const { letterSpacing, wordSpacing } = this.#state;
    const run: Run = { glyphs: [], colour: this.#colour(), order: this.#order };
    const tracking = this.#tracking(glyphs);
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        this.#advance((-glyph / 1000) * size, vertical);
        continue;
      }
      const start = pointOf(matrix, this.#pen[0], this.#pen[1] + this.#state.rise);
      this.#advance(this.#widthOf(glyph, font) + tracking, vertical);
      const end = pointOf(matrix, this.#pen[0], this.#pen[1] + this.#state.rise);
      this.#advance(letterSpacing - tracking + (glyph.isSpace ? wordSpacing : 0), vertical);
      const middle: [number, number] = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
      const place = placed(start, end, turn);
      run.glyphs.push({
        x: place.x,
        end: place.end,
        y: place.y,
        text: textOf(glyph.unicode),
        size: height,
        turn,
        fixed: font.fallbackName === 'monospace',
        hidden: this.#hiddenAt(middle, height),
      });
    }
    this.#count += run.glyphs.length;
    if (run.glyphs.length > 0) this.#runs.push(run);
    if (this.#state.mode >= 4) this.#clipping.push(...run.glyphs);
  }

  /**
   * Letter spacing that belongs to the letters, since letters that are set apart still make one word. Some programs set it to the width of a
   * space instead: for the last letter of a word alone, or drawing letters back by as much, except between words.
   */
  #tracking(glyphs: readonly (FontGlyph | number)[]): number {
    const { letterSpacing, size } = this.#state;
    if (letterSpacing < WIDE_TRACKING * Math.abs(size)) return letterSpacing;
    const isBack = (each: FontGlyph | number): boolean =>
      typeof each === 'number' && (each / 1000) * size >= letterSpacing * 0.8;
    if (glyphs.filter(isBack).length > 1) this.#drawnBack = letterSpacing;
    const isOne = glyphs.filter((each) => typeof each !== 'number').length === 1;
    return isOne || letterSpacing === this.#drawnBack ? 0 : letterSpacing;
  }

  /** The colour of text; undefined if it is filled and outlined in two of them, or shows what is painted through it. */
  #colour(): string | undefined {
    const { fill, stroke, mode } = this.#state;
    if (mode >= 4) return undefined;
    if (mode === 1) return stroke;
    return mode === 2 && fill !== stroke ? undefined : fill;
  }

  #widthOf(glyph: FontGlyph, { vertical, fontMatrix }: Font): number {
    const unit = fontMatrix?.[0] ?? 0.001;
    return (vertical ? Math.abs(glyph.vmetric?.[0] ?? 1000) : glyph.width) * unit * this.#state.size;
  }

  #advance(by: number, vertical: boolean): void {
    if (vertical) this.#pen[1] -= by;
    else this.#pen[0] += by * this.#state.stretch;
  }

  #hiddenAt([x, y]: readonly [number, number], height: number): Glyph['hidden'] {
    const { clip, mode, alpha } = this.#state;
    if (this.#off > 0) return 'layer';
    const margin = height / 3;
    if (x < clip[0] - margin || x > clip[2] + margin || y + height < clip[1] || y > clip[3] + margin)
      return 'unseen';
    if (mode % 4 === 3) return 'mode';
    return alpha === 0 || height < MIN_SIZE ? 'unseen' : '';
  }
}
