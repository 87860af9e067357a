import { KvasirError } from '../../src-shared/errors.ts';
import type { Failure } from '../../src-shared/contract/common.ts';

/** Any thrown value as it is shown to people and kept with a document, a job or an answer. */
export function failureOf(error: unknown): Failure {
  if (error instanceof KvasirError) {
    return { code: error.code, message: error.message, advice: error.advice };
  }
  return {
    code: 'ENGINE_FAILED',
    message: `Kvasir ran into something it did not expect: ${messageOf(error)}`,
    advice: 'Try again; when it happens again, send the log file with a report.',
  };
}

/** What any thrown value says of itself. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any thrown value for the log: with where it came from, if that is known. */
export function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
