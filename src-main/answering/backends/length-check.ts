import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FusionModel } from '../../fusion/model.ts';

/** UTF-16 units per token, more in hardly any text; prompts under the limit by this measure are tokenised whole. */
const CHARACTERS_PER_TOKEN = 8;
const SLICE_CHARACTERS = 64 * 1024;
/** Tokens that splitting a text into two slices may add. */
const CUT_TOKENS = 16;

/**
 * Whether texts have more tokens than `limit`, judged from its beginning. Tokenising takes about a second for three megabytes, on the
 * only thread, so a prompt that is far too long is not tokenised to its end. Yields between slices.
 */
export async function isFarTooLong(
  texts: readonly string[],
  model: Pick<FusionModel, 'tokenize'>,
  limit: number,
): Promise<boolean> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= limit * CHARACTERS_PER_TOKEN) return false;
  let room = limit;
  for (const text of texts)
    for (let at = 0; at < text.length; at += SLICE_CHARACTERS) {
      const end = at + SLICE_CHARACTERS;
      room -= model.tokenize(text.slice(at, end)).length - (end < text.length ? CUT_TOKENS : 0);
      if (room < 0) return true;
      await nextTurn();
    }
  return false;
}
