/** Tokens of passages in a prompt where nobody says: of a context of 2,048 they leave room for question and answer. */
const USUAL_TOKENS = 1536;
/** More small chunks fit than help. */
const MOST = 16;
/** Of large chunks, one that does not answer must not be all that a prompt has. */
const FEWEST = 6;

/** How many passages go into a prompt where nobody says, by the size of the chunks [tokens]. */
export function usualTopK(chunkTokens: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.floor(USUAL_TOKENS / chunkTokens)));
}
