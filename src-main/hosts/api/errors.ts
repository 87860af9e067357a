import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { KvasirError, type ErrorCode } from '../../../src-shared/errors.ts';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';

/** What clients of OpenAI's API are told of a failure. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** A request that is refused before anything is asked of the core. */
export class Refusal extends Error {
  readonly status: ContentfulStatusCode;
  readonly param: string | null;
  readonly code: string | null;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    { param = null, code = null }: { param?: string | null; code?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

/** The client closed the connection; nobody sees it. */
const CLIENT_CLOSED = 499 as ContentfulStatusCode;

/** Failures that say something about the request, or that pass. Any other is the server's. */
const STATUSES: Partial<Record<ErrorCode, { status: ContentfulStatusCode; code: string }>> = {
  NOT_FOUND: { status: 404, code: 'model_not_found' },
  BAD_ARGUMENT: { status: 400, code: 'invalid_value' },
  CONTEXT_OVERFLOW: { status: 400, code: 'context_length_exceeded' },
  QUESTION_TOO_LONG: { status: 400, code: 'context_length_exceeded' },
  NO_MATCH: { status: 422, code: 'no_match' },
  DOCUMENT_UNREADABLE: { status: 400, code: 'document_unreadable' },
  DOCUMENT_ENCRYPTED: { status: 400, code: 'document_encrypted' },
  DOCUMENT_NO_TEXT: { status: 400, code: 'document_no_text' },
  DOCUMENT_TIMEOUT: { status: 400, code: 'document_timeout' },
  DOCUMENT_MEMORY: { status: 413, code: 'document_memory' },
  DOCUMENT_TOO_LARGE: { status: 413, code: 'document_too_large' },
  CONFLICT: { status: 429, code: 'too_many_requests' },
  OUT_OF_MEMORY: { status: 503, code: 'out_of_memory' },
  ABORTED: { status: CLIENT_CLOSED, code: 'aborted' },
};

/** What failed, in the form and with the status that clients expect. */
export function failureResponse(
  error: unknown,
  log: Logger,
): { status: ContentfulStatusCode; body: ErrorBody } {
  if (error instanceof Refusal) return told(error.status, error.message, error);
  if (error instanceof HTTPException) return told(error.status, error.message);
  if (error instanceof KvasirError) {
    const { status, code } = STATUSES[error.code] ?? { status: 500 as const, code: error.code.toLowerCase() };
    if (status === 500) log.warn('api-request-failed', { error: String(error) });
    return told(status, `${error.message} ${error.advice}`.trim(), { code });
  }
  log.error('api-request-failed', { error: traceOf(error) });
  return told(500, 'Kvasir failed at this request: this is a defect. Its log says more.', {
    code: 'internal_error',
  });
}

export function errorHandler(log: Logger): (error: unknown, c: Context) => Response {
  return (error, c) => {
    const { status, body } = failureResponse(error, log);
    return c.json(body, status);
  };
}

function told(
  status: ContentfulStatusCode,
  message: string,
  { param = null, code = null }: { param?: string | null; code?: string | null } = {},
): { status: ContentfulStatusCode; body: ErrorBody } {
  return { status, body: { error: { message, type: typeOf(status), param, code } } };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
