import { KvasirError } from '../../src-shared/errors.ts';
import type { Failure } from '../../src-shared/contract/common.ts';

/** Any thrown value as shown to users and stored with a document, a job or an answer. */
export function failureOf(error: unknown): Failure {
  if (error instanceof KvasirError) {
    return { code: error.code, message: error.message, advice: error.advice };
  }
  return {
    code: 'ENGINE_FAILED',
    message: `Unexpected error: ${messageOf(error)}`,
    advice: 'Try again; if it happens again, report it with the log file.',
  };
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any thrown value for the log: with its stack trace if it has one. */
export function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
