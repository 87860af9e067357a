import { FailureSchema, type Failure } from '../../src-shared/contract/common.ts';
import { KvasirError, type ErrorCode } from '../../src-shared/errors.ts';
import type { Language } from './i18n.ts';
import { failures, names } from './zh/failures.ts';

/** A failure from any source: with the core's English text, and its code if it has one. */
export type ShownFailure = Pick<Failure, 'message' | 'advice' | 'values'> & { code?: ErrorCode | undefined };

/** Converts anything thrown or received in an event: failures may be Errors or plain data. */
export function shownFailure(error: unknown): ShownFailure {
  if (error instanceof KvasirError) return { code: error.code, message: error.message, advice: error.advice };
  if (isFailure(error)) return error;
  return { message: error instanceof Error ? error.message : String(error), advice: '' };
}

function isFailure(value: unknown): value is Failure {
  return FailureSchema.safeParse(value).success;
}

const WORDS: Partial<Record<Language, { failures: typeof failures; names: typeof names }>> = {
  zh: { failures, names },
};

/**
 * A failure in the window's language, by its code. `detail` is the core's English text, since it names files and
 * causes; empty if that is already shown: because the language is English, has no text for the code, or its text says
 * everything.
 */
export function failureWords(
  { code, message, advice, values = {} }: ShownFailure,
  language: string,
): { message: string; advice: string; detail: string } {
  const words = WORDS[language as Language];
  const known = code && words?.failures[code];
  if (!known) return { message, advice, detail: '' };
  const filled = known.message.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => {
    const value = values[key] ?? '';
    return words.names[value] ?? value;
  });
  return { message: filled, advice: known.advice, detail: known.whole ? '' : message };
}
