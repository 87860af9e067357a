import type { CompletionText } from './types.ts';

/**
 * Splits a client's text at a separator: the text between two separators is a chunk; the text before the first and after the last is plain
 * text. The separators are not put into the prompt.
 */
export function cutAt(separator: string, text: string): CompletionText[] {
  const pieces = text.split(separator);
  return pieces
    .map((piece, i) => ({ text: piece, cache: i > 0 && i < pieces.length - 1 }))
    .filter((piece) => piece.text !== '');
}
