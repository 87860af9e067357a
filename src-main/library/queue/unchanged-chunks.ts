/** Shorter texts occur in too many places to identify a chunk. */
const MIN_ANCHOR_UNITS = 100;
/** How far after its expected position a chunk is searched, beyond the growth of the text. */
const SEARCH_UNITS = 16_384;

/**
 * Which chunks of a text's earlier version still occur in it, verbatim and in order: start → end in the new text. A generator that yields
 * nothing until it returns, so that the caller can let other work run meanwhile.
 */
export function* unchangedChunks(
  text: string,
  earlier: readonly { text: string; end: number }[],
): Generator<undefined, Map<number, number>> {
  const kept = new Map<number, number>();
  const growth = Math.max(0, text.length - (earlier.at(-1)?.end ?? 0));
  const first = skipSpace(text, 0);
  let at = first;
  for (const chunk of earlier) {
    const start = find(text, chunk.text, at, SEARCH_UNITS + growth);
    yield;
    if (start < 0) continue;
    const end = start + chunk.text.length;
    at = skipSpace(text, end);
    // The last chunk may be short only because the text ended there; and no word is split.
    if ((chunk === earlier.at(-1) && at < text.length) || isInsideWord(text, end)) continue;
    // The first chunk's range includes the white space before it, and every range the white space after it.
    kept.set(start === first ? 0 : start, at);
  }
  return kept;
}

function find(text: string, chunk: string, at: number, reach: number): number {
  if (text.startsWith(chunk, at)) return at;
  if (chunk.length < MIN_ANCHOR_UNITS) return -1;
  const found = text.slice(at, at + reach + chunk.length).indexOf(chunk);
  return found < 0 ? -1 : at + found;
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  return at;
}

function isInsideWord(text: string, at: number): boolean {
  return (
    /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
    /^[\p{L}\p{N}]/u.test(text.slice(at, at + 2))
  );
}
