import type { CompletionText } from './types.ts';

/**
 * Text that a client cut by a separator: what stands between two of them is a chunk; what stands before the first, and behind the
 * last, is text. The separators themselves are not put into the prompt.
 */
export function cutAt(separator: string, text: string): CompletionText[] {
  const pieces = text.split(separator);
  return pieces
    .map((piece, i) => ({ text: piece, cache: i > 0 && i < pieces.length - 1 }))
    .filter((piece) => piece.text !== '');
}
