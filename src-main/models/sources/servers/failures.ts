import { KvasirError, type ErrorCode } from '../../../../src-shared/errors.ts';

export interface FailedRequest {
  /** Including the port. */
  host: string;
  model?: string | undefined;
  /** Must never appear in messages or logs. */
  key?: string | undefined;
  /** Whether part of the answer had arrived. */
  begun?: boolean | undefined;
}

/** The fields that Kvasir reads of errors from OpenAI's client and from Node below it. */
interface ThrownError {
  status?: unknown;
  code?: unknown;
  type?: unknown;
  message?: unknown;
  /** From the response: an object, text (transformers serve), or FastAPI's `detail`. Absent if the connection failed. */
  error?: unknown;
  headers?: { get?(name: string): string | null };
  cause?: unknown;
}

/** Maximum length of a quoted server message. */
const QUOTED = 200;

const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS|ERR_SSL|WRONG_VERSION_NUMBER|CRYPTO/;
const TOO_LONG =
  /context[ _-]?(length|size|window)|maximum context|max_model_len|exceeds? the .*context|too (long|many tokens)/i;

/** Converts a failed or interrupted request into one sentence. The cause is omitted, because it may contain the key. */
export function remoteFailure(error: unknown, asked: FailedRequest): KvasirError {
  if (error instanceof KvasirError) return error;
  const { status, code, error: sent } = error as ThrownError;
  if (typeof status === 'number') return refusal(error as ThrownError, status, asked);
  const codes = codesOf(error);
  const certificate = codes.find((code) => CERTIFICATE.test(code));
  if (certificate !== undefined) return untrusted(certificate, asked);
  if (/unexpected redirect/i.test(textsOf(error))) return redirected(asked);
  if (error instanceof SyntaxError) return notTheProtocol(asked, 'its response is not JSON');
  if (code !== undefined || sent !== undefined || asked.begun) {
    if (isUnreachable(codes) && !asked.begun) return unreachable(codes, asked);
    const said = wordsOf(error as ThrownError, asked);
    if (asked.begun) return connectionLost(asked, codes.length > 0 || said === '' ? '' : ` (${said})`);
    return failed(asked, said);
  }
  return unreachable(codes, asked);
}

/** A timeout: the server sent nothing for this many seconds. */
export function tooSlow({ host, begun }: FailedRequest, seconds: number): KvasirError {
  const what = begun ? 'sent nothing more' : 'sent no first token';
  return new KvasirError(
    'REMOTE_SLOW',
    `${host} ${what} within ${seconds} seconds.`,
    'It may be loading the model, busy with other requests, or short of memory. Try again, or increase the timeout.',
  );
}

/** The stream ended without an end marker. */
export function connectionLost({ host }: FailedRequest, how = ''): KvasirError {
  return new KvasirError(
    'REMOTE_CUT',
    `The connection to ${host} ended in the middle of the answer${how}.`,
    'The partial answer is kept; ask again for a complete one.',
  );
}

export function notTheProtocol({ host }: FailedRequest, what: string): KvasirError {
  return new KvasirError(
    'REMOTE_PROTOCOL',
    `${host} does not speak OpenAI’s API: ${what}.`,
    'Check the address: it usually ends in /v1 and must not lead to a sign-in page.',
  );
}

function refusal(error: ThrownError, status: number, asked: FailedRequest): KvasirError {
  const { host, model } = asked;
  const said = wordsOf(error, asked);
  const reason = `${String(error.code)} ${String(error.type)} ${said}`;
  const make = (code: ErrorCode, message: string, advice: string): KvasirError =>
    new KvasirError(code, message, advice);
  if (status === 401 || status === 403)
    return asked.key === undefined || asked.key === ''
      ? make(
          'REMOTE_KEY',
          `${host} requires a key (${status}).`,
          'Enter the model’s key on the Models screen.',
        )
      : make(
          'REMOTE_KEY',
          `${host} refuses the key, or the key lacks permission (${status}).`,
          'Change the model’s key on the Models screen.',
        );
  if (status === 413 || (status === 400 && TOO_LONG.test(reason)))
    return make(
      'CONTEXT_OVERFLOW',
      `Prompt and answer do not fit the context that ${host} has for this model${quoted(said)}.`,
      'Allow fewer passages or a smaller context in Settings, or enter the model’s context length when adding it.',
    );
  if (status === 404)
    return make(
      'REMOTE_MODEL',
      model === undefined
        ? `${host} has no model list at this address (404).`
        : `${host} has no model “${model}”, or the address is not that of its API (404).`,
      'Check which models the server has now, and add the one you want.',
    );
  if (status === 429 && /insufficient_quota|billing|exceeded your current quota/i.test(reason))
    return make(
      'REMOTE_QUOTA',
      `The account at ${host} has used up its quota (429).`,
      'Raise the quota there, or choose another model.',
    );
  if (status === 429 || status === 503) return busy(error, status, asked);
  return failed(asked, `${status}${said === '' ? '' : `: ${said}`}`);
}

function busy({ headers }: ThrownError, status: number, { host }: FailedRequest): KvasirError {
  const seconds = retrySeconds(headers?.get?.('retry-after') ?? null);
  const when = seconds === undefined ? 'in a while' : `in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const what = status === 429 ? 'accepts no more requests for now' : 'is too busy, or still loading';
  return new KvasirError('REMOTE_BUSY', `${host} ${what} (${status}).`, `Ask again ${when}.`);
}

function failed({ host }: FailedRequest, said: string): KvasirError {
  return new KvasirError(
    'REMOTE_FAILED',
    `${host} could not answer${quoted(said)}.`,
    'Check the server’s log; ask again, or choose another model.',
  );
}

function redirected({ host }: FailedRequest): KvasirError {
  return new KvasirError(
    'REMOTE_PROTOCOL',
    `${host} redirected the request. Kvasir does not follow redirects.`,
    'Add the server by the address it redirects to.',
  );
}

function untrusted(code: string, { host }: FailedRequest): KvasirError {
  const why = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code)
    ? 'is not signed by an authority this computer trusts'
    : code === 'CERT_HAS_EXPIRED'
      ? 'has expired'
      : code === 'ERR_TLS_CERT_ALTNAME_INVALID'
        ? 'is for another host'
        : 'cannot be checked';
  return new KvasirError(
    'REMOTE_CERTIFICATE',
    `The certificate of ${host} ${why} (${code}), so nothing was sent.`,
    'If it is your own, add its authority to the system’s trusted certificates, or start Kvasir with NODE_EXTRA_CA_CERTS set to its PEM file.',
  );
}

function unreachable(codes: readonly string[], { host }: FailedRequest): KvasirError {
  const name = codes.some((code) => code === 'ENOTFOUND' || code === 'EAI_AGAIN');
  const code = codes.length > 0 ? ` (${codes.join(', ')})` : '';
  return new KvasirError(
    'REMOTE_UNREACHABLE',
    name ? `Host ${host} not found${code}.` : `${host} cannot be reached${code}.`,
    'Check that the server runs, its address and port, and your network.',
  );
}

const UNREACHABLE = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EADDR|UND_ERR_)/;

function isUnreachable(codes: readonly string[]): boolean {
  return codes.some((code) => UNREACHABLE.test(code));
}

/** In seconds; the header contains seconds or a date. */
function retrySeconds(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : undefined;
}

/** Codes of an error and its causes, including Node's AggregateError of several attempts. */
function codesOf(error: unknown): string[] {
  const codes = new Set<string>();
  let at = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    const { code, cause, errors } = at as ThrownError & { errors?: unknown[] };
    if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) codes.add(code);
    at = cause ?? errors?.[0];
  }
  return [...codes];
}

function textsOf(error: unknown): string {
  const texts: string[] = [];
  let at = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    texts.push(String((at as ThrownError).message));
    at = (at as ThrownError).cause;
  }
  return texts.join(' ');
}

/** The server's message, on one line and without the key, which some servers repeat. */
function wordsOf({ message: whole, status, error }: ThrownError, { key }: FailedRequest): string {
  const sent = typeof error === 'string' ? error : (error as { detail?: unknown } | null | undefined)?.detail;
  const message = typeof sent === 'string' ? sent : whole;
  if (typeof message !== 'string' || /<html|<!doctype/i.test(message)) return '';
  const plain = message.replace(new RegExp(`^${String(status)} `), '').replace(/[\s\p{Cc}]+/gu, ' ');
  const without = key === undefined || key === '' ? plain : plain.replaceAll(key, '…');
  const told = /^(status code \(no body\)|terminated|Connection error\.?)$/.test(without.trim())
    ? ''
    : without.trim();
  return told.length > QUOTED ? `${told.slice(0, QUOTED).toWellFormed()}…` : told;
}

function quoted(said: string): string {
  return said === '' ? '' : ` (${said.replace(/\.$/, '')})`;
}
