import type { Failure } from '../../src-shared/contract/common.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';
import type { Language } from './i18n.ts';
import { failures as zh } from './zh/failures.ts';

/** A failure as it may come from anywhere: with the core's words, in English, and its code where it has one. */
export type ShownFailure = Pick<Failure, 'message' | 'advice'> & { code?: ErrorCode | undefined };

const FAILURES: Partial<Record<Language, typeof zh>> = { zh };

/**
 * A failure in the window's language, by its code. `detail` is what the core said, in English, since it names files and causes; empty
 * where that is what is shown already, because the language is English or has no words for the code.
 */
export function failureWords(
  { code, message, advice }: ShownFailure,
  language: string,
): { message: string; advice: string; detail: string } {
  const known = code && FAILURES[language as Language]?.[code];
  return known ? { ...known, detail: message } : { message, advice, detail: '' };
}
