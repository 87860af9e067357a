import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { commentLines, fieldGlyphs, isReadAsData, type Annotation } from './annotations.ts';
import { linesOf } from './columns.ts';
import type { Glyph } from './glyph.ts';
import { drawnGlyphs } from './glyphs.ts';
import { withoutLeaders, type Line } from './layout.ts';
import { multiply, type Box, type Matrix } from './matrix.ts';
import { isNonsense } from './nonsense.ts';
import type { Paints } from './paint.ts';
import { rowsOf } from './segments.ts';

/** pdf.js's OptionalContentConfig. */
export interface Layers {
  isVisible(layer: unknown): boolean;
}

/** What a page says, and what was left out of it. */
export interface PageLines {
  lines: Line[];
  comments: Line[];
  /** Text in a layer that is switched off. */
  hasHiddenLayer: boolean;
  /** Text that nobody sees: white on white, covered, clipped, outside of the page, or not painted although the page is no scan. */
  hasUnseen: boolean;
  /** Its text is in a picture or drawing, or its letters have wrong codes: it has to be recognised. */
  isScan: boolean;
}

/** A page whose pictures cover this share of it is a scan: its unpainted text is what text recognition found. */
const SCAN = 0.5;

/** A page number or a stamp. */
const FEW_LETTERS = 8;
/** Drawn letters take more boxes than the ground and the lines of a form. */
const DRAWN = 50;

/** Characters for private use, and the one for what has none. */
const UNKNOWN = /[\ue000-\uf8ff\ufffd]/gu;
const MANY = 0.2;

export async function readPage(page: PDFPageProxy, layers: Layers): Promise<PageLines> {
  const annotations = (await page.getAnnotations().catch(() => [])) as Annotation[];
  const data = new Map(annotations.filter(isReadAsData).map((annotation) => [annotation.id, annotation]));
  const viewport = page.getViewport({ scale: 1 });
  // pdf.js has y downwards.
  const matrix = multiply([1, 0, 0, -1, 0, viewport.height], viewport.transform as unknown as Matrix);
  const box: Box = [0, 0, viewport.width, viewport.height];
  const { glyphs, paints } = drawnGlyphs({
    operators: await page.getOperatorList(),
    fonts: page.commonObjs,
    matrix,
    page: box,
    isShown: (layer) => layers.isVisible(layer),
    readsAnnotation: (id) => !data.has(id),
  });
  page.cleanup();
  const seen = seenGlyphs(glyphs, paints, box);
  const isSeen = new Set(seen);
  const lines = linesByDirection([...seen, ...fieldGlyphs([...data.values()], matrix, seen)], paints);
  return {
    lines,
    comments: commentLines(annotations),
    isScan: isScan(lines.map(({ text }) => text).join('\n'), paints),
    hasHiddenLayer: glyphs.some(({ hidden, text }) => hidden === 'layer' && text.trim() !== ''),
    hasUnseen: glyphs.some(
      (glyph) => !isSeen.has(glyph) && glyph.hidden !== 'layer' && glyph.text.trim() !== '',
    ),
  };
}

function isScan(text: string, { pictureArea, boxes }: Paints): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters < FEW_LETTERS) return pictureArea > 0 || boxes.length > DRAWN;
  const unknown = text.match(UNKNOWN)?.length ?? 0;
  return unknown > text.length * MANY || isNonsense(text);
}

/** Unpainted text is read where it is the only text, or where it lies beneath a picture of the page. */
function seenGlyphs(glyphs: readonly Glyph[], paints: Paints, page: Box): Glyph[] {
  const seen = glyphs.filter(({ hidden }) => hidden === '');
  const isScan =
    paints.pictureArea >= SCAN * page[2] * page[3] || !seen.some(({ text }) => text.trim() !== '');
  return isScan ? glyphs.filter(({ hidden }) => hidden === '' || hidden === 'mode') : seen;
}

/** Upright text comes first if it is at least this share of the text in the direction that most has. */
const UPRIGHT_SHARE = 1 / 3;

/** The lines of each direction of writing: the main one first, the others as paragraphs behind it. */
function linesByDirection(glyphs: readonly Glyph[], paints: Paints): Line[] {
  const directions = [...Map.groupBy(glyphs, ({ turn }) => turn)].sort((a, b) => b[1].length - a[1].length);
  const most = directions[0]?.[1].length ?? 0;
  const upright = directions.findIndex(([turn, all]) => turn === 0 && all.length > most * UPRIGHT_SHARE);
  if (upright > 0) directions.unshift(...directions.splice(upright, 1));
  return directions.flatMap(([turn, all], i) => {
    const lines = withoutLeaders(
      linesOf(rowsOf(all, turn === 0 ? paints.uprights : []), turn === 0 ? paints.rules : []),
    );
    return i === 0
      ? lines
      : lines.map((line, at) => ({ ...line, turned: true, ...(at === 0 && { apart: true }) }));
  });
}
