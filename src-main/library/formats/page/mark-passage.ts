import { findPassage } from '../../../../src-shared/find-passage.ts';
import { escapeHtml, type PagePiece } from './safe-html.ts';

/** A passage of the text that was read from the page. */
export interface Passage {
  text: string;
  /** Its place in the page's text, from 0 to 1. */
  near: number;
}

/** The page as HTML, with the passage in elements `mark`, the first of which has the id `passage`. */
export function markPassage(
  pieces: readonly PagePiece[],
  passage: Passage | undefined,
): { html: string; isMarked: boolean } {
  const texts = pieces.filter((piece) => 'text' in piece);
  const ranges = passage ? findPassage(texts, passage.text, passage.near) : [];
  const marked = new Map(texts.map((piece, i) => [piece, ranges[i]]));
  let isMarked = false;
  const parts = pieces.map((piece) => {
    if ('tag' in piece) return piece.tag;
    const range = marked.get(piece);
    if (!range) return escapeHtml(piece.text);
    const [before, inside, after] = [
      piece.text.slice(0, range.start),
      piece.text.slice(range.start, range.end),
      piece.text.slice(range.end),
    ].map(escapeHtml);
    const id = isMarked ? '' : ' id="passage"';
    isMarked = true;
    return `${before}<mark${id}>${inside}</mark>${after}`;
  });
  return { html: parts.join(''), isMarked };
}
