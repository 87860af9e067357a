import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Failure } from '../../errors.ts';
import type { FailureBody } from './schemas.ts';

/** Anthropic's status for overload; its clients retry. */
const OVERLOADED = 529 as ContentfulStatusCode;

const TYPES: Partial<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  504: 'timeout_error',
  [OVERLOADED]: 'overloaded_error',
};

/** The code at which Anthropic's clients send the whole conversation instead. */
export const NO_THREADS = 'thread_unsupported_request';

/** Whether a path belongs to Anthropic's API, whose clients expect its error format. */
export function isMessages(path: string): boolean {
  return path === '/v1/messages' || path.startsWith('/v1/messages/');
}

/** A failure in the format of Anthropic's API; `id`: the request's. */
export function messageFailure(
  { status: plain, headers, body, again }: Failure,
  id: string,
): Pick<Failure, 'status' | 'headers'> & { body: FailureBody } {
  const status = again === true ? OVERLOADED : plain;
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const { message, code } = body.error;
  const details = code === NO_THREADS && { details: { error_code: code, unsupported: ['thread'] } };
  const told = { type, message, ...details };
  return { status, headers, body: { type: 'error', error: told, request_id: id } };
}
