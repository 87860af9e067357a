import type { PromptFigures } from '../../src-shared/figures.ts';
import type { AppendReport } from '../engine/engine.ts';

/** What a session held before a prompt was appended, in tokens. */
export interface HeldTokens {
  residentTokens: number;
  prefixTokens: number;
  restoredTokens: number;
}

/** Where the tokens of a prompt came from: what panel, chat, API, command line, watching and benches show. */
export function promptFigures(
  { tokens, reusableTokens, recomputedTokens, bytesLoaded }: AppendReport,
  { residentTokens, prefixTokens, restoredTokens }: HeldTokens,
): PromptFigures {
  return {
    promptTokens: residentTokens + tokens,
    residentTokens,
    prefixTokens,
    restoredTokens,
    reusedTokens: reusableTokens,
    recomputedTokens,
    computedTokens: tokens - reusableTokens,
    bytesLoaded,
  };
}

/** Of a prompt that was sent to a server, which tells less. */
export function figuresOnServer(promptTokens: number): PromptFigures {
  return {
    promptTokens,
    residentTokens: 0,
    prefixTokens: 0,
    restoredTokens: 0,
    reusedTokens: 0,
    recomputedTokens: 0,
    computedTokens: 0,
    bytesLoaded: 0,
  };
}
