import { FailureSchema, type Failure } from '../../src-shared/contract/common.ts';
import { KvasirError, type ErrorCode } from '../../src-shared/errors.ts';
import type { Language } from './i18n.ts';
import { failures as zh } from './zh/failures.ts';

/** A failure as it may come from anywhere: with the core's words, in English, and its code where it has one. */
export type ShownFailure = Pick<Failure, 'message' | 'advice'> & { code?: ErrorCode | undefined };

/** Of what was thrown, or told by an event: a failure is one whether it is an Error or has travelled as plain data. */
export function shownFailure(error: unknown): ShownFailure {
  if (error instanceof KvasirError) return { code: error.code, message: error.message, advice: error.advice };
  if (isFailure(error)) return error;
  return { message: error instanceof Error ? error.message : String(error), advice: '' };
}

function isFailure(value: unknown): value is Failure {
  return FailureSchema.safeParse(value).success;
}

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
