import type { PromptFigures } from '../../src-shared/figures.ts';
import type { AppendReport } from '../engine/engine.ts';

/** What a session held before a prompt was appended, in tokens. */
export interface SessionTokenCounts {
  residentTokens: number;
  prefixTokens: number;
  restoredTokens: number;
}

/** The sources of a prompt's tokens: shown in the panel, chat, API, command line, watching and benches. */
export function promptFigures(
  { tokens, reusableTokens, recomputedTokens, bytesLoaded }: AppendReport,
  { residentTokens, prefixTokens, restoredTokens }: SessionTokenCounts,
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

/** For a prompt sent to a server, which reports less. */
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
