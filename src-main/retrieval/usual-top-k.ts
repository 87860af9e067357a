/** Tokens of passages in a prompt where nobody says, at most: two questions' then go into a context of 2,048, as chunks are seldom full. */
const USUAL_TOKENS = 1152;
/** More small chunks fit than help. */
const MOST = 12;
/** Of large chunks, one that does not answer must not be all that a prompt has. */
const FEWEST = 6;

/** How many passages go into a prompt where nobody says, by the size of the chunks [tokens]. */
export function usualTopK(chunkTokens: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.floor(USUAL_TOKENS / chunkTokens)));
}
