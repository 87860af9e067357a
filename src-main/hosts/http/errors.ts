import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { KvasirError, type ErrorCode } from '../../../src-shared/errors.ts';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';

/** An error body in the format of OpenAI's API. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** A request refused before it reaches the core. */
export class Refusal extends Error {
  readonly status: ContentfulStatusCode;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    { param = null, code = null, headers = {} }: Pick<FailureOptions, 'param' | 'code' | 'headers'> = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
    this.headers = headers;
  }
}

/** The client closed the connection; nobody sees this status. */
const CLIENT_CLOSED = 499 as ContentfulStatusCode;

/** Retry-After for temporary failures: a guess, because the duration of other requests is unknown. */
const RETRY_SECONDS = '5';

/** How a failure is reported. `again`: whether the same request may succeed on retry. */
interface FailureReport {
  status: ContentfulStatusCode;
  code: string;
  again?: boolean;
}

/** Failures that concern the request or a model's server, or that are temporary. All others are this server's fault. */
const TELLINGS: Partial<Record<ErrorCode, FailureReport>> = {
  NOT_FOUND: { status: 404, code: 'model_not_found' },
  BAD_ARGUMENT: { status: 400, code: 'invalid_value' },
  CONTEXT_OVERFLOW: { status: 400, code: 'context_length_exceeded' },
  QUESTION_TOO_LONG: { status: 400, code: 'context_length_exceeded' },
  NO_MATCH: { status: 422, code: 'no_match' },
  DOCUMENT_WAITING: { status: 503, code: 'document_waiting', again: true },
  DOCUMENT_UNREADABLE: { status: 400, code: 'document_unreadable' },
  DOCUMENT_ENCRYPTED: { status: 400, code: 'document_encrypted' },
  DOCUMENT_NO_TEXT: { status: 400, code: 'document_no_text' },
  DOCUMENT_TIMEOUT: { status: 400, code: 'document_timeout' },
  DOCUMENT_MEMORY: { status: 413, code: 'document_memory' },
  DOCUMENT_TOO_LARGE: { status: 413, code: 'document_too_large' },
  CONFLICT: { status: 429, code: 'too_many_requests', again: true },
  DATABASE_HELD: { status: 503, code: 'database_held', again: true },
  OUT_OF_MEMORY: { status: 503, code: 'out_of_memory', again: true },
  ABORTED: { status: CLIENT_CLOSED, code: 'aborted' },
  // The model's server. Failures that need a change of settings, account or address are not retried.
  REMOTE_BUSY: { status: 503, code: 'remote_busy', again: true },
  REMOTE_SLOW: { status: 504, code: 'remote_slow' },
  REMOTE_UNREACHABLE: { status: 502, code: 'remote_unreachable' },
  REMOTE_FAILED: { status: 502, code: 'remote_failed' },
  REMOTE_CUT: { status: 502, code: 'remote_cut' },
  REMOTE_KEY: { status: 502, code: 'remote_key', again: false },
  REMOTE_QUOTA: { status: 502, code: 'remote_quota', again: false },
  REMOTE_MODEL: { status: 502, code: 'remote_model', again: false },
  REMOTE_CERTIFICATE: { status: 502, code: 'remote_certificate', again: false },
  REMOTE_PROTOCOL: { status: 502, code: 'remote_protocol', again: false },
  // No model can be loaded until somebody chooses another.
  MODEL_NOT_FOUND: { status: 503, code: 'model_not_loaded', again: false },
  MODEL_INVALID: { status: 503, code: 'model_not_loaded', again: false },
  MODEL_PART_MISSING: { status: 503, code: 'model_not_loaded', again: false },
  MODEL_UNSUPPORTED: { status: 503, code: 'model_not_loaded', again: false },
  MODEL_TOO_LARGE: { status: 503, code: 'model_not_loaded', again: false },
};

export interface Failure {
  status: ContentfulStatusCode;
  headers: Record<string, string>;
  body: ErrorBody;
  /** Whether a retry may succeed; undefined: unknown. */
  again: boolean | undefined;
}

/** A failure in the format and with the status that clients expect. `id`: the request's, for the log. */
export function failureOf(error: unknown, log: Logger, id: string): Failure {
  if (error instanceof Refusal) return failureResponse(error.status, error.message, error);
  if (error instanceof HTTPException) return failureResponse(error.status, error.message);
  if (error instanceof KvasirError) {
    const unknown: FailureReport = { status: 500, code: error.code.toLowerCase() };
    const { status, ...more } = TELLINGS[error.code] ?? unknown;
    if (status >= 500) log.warn('request-failed', { id, error: String(error) });
    return failureResponse(status, `${error.message} ${error.advice}`.trim(), more);
  }
  log.error('request-failed', { id, error: traceOf(error) });
  return failureResponse(500, 'Kvasir failed at this request: this is a defect. Its log says more.', {
    code: 'internal_error',
  });
}

interface FailureOptions {
  param?: string | null;
  code?: string | null;
  again?: boolean | undefined;
  headers?: Readonly<Record<string, string>>;
}

function failureResponse(
  status: ContentfulStatusCode,
  message: string,
  { param = null, code = null, again, headers: more }: FailureOptions = {},
): Failure {
  const headers = {
    ...more,
    ...(again === true && { 'Retry-After': RETRY_SECONDS }),
    // The official clients retry on such a status unless this header forbids it.
    ...(again === false && { 'X-Should-Retry': 'false' }),
  };
  return { status, headers, again, body: { error: { message, type: typeOf(status), param, code } } };
}

/** OpenAI's error type; `code` identifies an unknown key or model. */
function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
