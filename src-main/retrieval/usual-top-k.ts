/** Default limit of passage tokens in a prompt: two questions' passages then fit a context of 2,048, as chunks are rarely full. */
const USUAL_TOKENS = 1152;
/** More small chunks fit than help. */
const MOST = 12;
/** With large chunks, a prompt must not consist of a single one that does not contain the answer. */
const FEWEST = 6;

/** The default number of passages in a prompt, by chunk size [tokens]. */
export function usualTopK(chunkTokens: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.floor(USUAL_TOKENS / chunkTokens)));
}
