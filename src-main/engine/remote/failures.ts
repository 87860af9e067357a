import { KvasirError, type ErrorCode } from '../../../src-shared/errors.ts';

/** What was asked when it went wrong. */
export interface Asked {
  /** With its port. */
  host: string;
  model?: string | undefined;
  /** Never to stand in what people or logs are told. */
  key?: string | undefined;
  /** Whether something of the answer had come already. */
  begun?: boolean | undefined;
}

/** What OpenAI's client throws, and what Node throws below it, as far as it is read here. */
interface Thrown {
  status?: unknown;
  code?: unknown;
  type?: unknown;
  message?: unknown;
  headers?: { get?(name: string): string | null };
  cause?: unknown;
}

/** Longest run of what a server said that is quoted. */
const QUOTED = 200;

const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS|ERR_SSL|WRONG_VERSION_NUMBER|CRYPTO/;
const TOO_LONG =
  /context[ _-]?(length|size|window)|maximum context|max_model_len|exceeds? the .*context|too (long|many tokens)/i;

/** Why a server gave no answer, or no more of it, in one sentence. The cause is left out: what it holds may hold the key. */
export function remoteFailure(error: unknown, asked: Asked): KvasirError {
  if (error instanceof KvasirError) return error;
  const { status } = error as Thrown;
  if (typeof status === 'number') return refusal(error as Thrown, status, asked);
  const codes = codesOf(error);
  const certificate = codes.find((code) => CERTIFICATE.test(code));
  if (certificate !== undefined) return untrusted(certificate, asked);
  if (/unexpected redirect/i.test(textsOf(error))) return redirected(asked);
  if (error instanceof SyntaxError) return notTheProtocol(asked, 'what it sent is not JSON');
  if ((error as Thrown).code !== undefined || asked.begun) {
    if (isUnreachable(codes) && !asked.begun) return unreachable(codes, asked);
    const said = wordsOf(error as Thrown, asked);
    if (asked.begun) return cut(asked, codes.length > 0 || said === '' ? '' : ` (${said})`);
    return failed(asked, said);
  }
  return unreachable(codes, asked);
}

/** Nothing came for so many seconds. */
export function tooSlow({ host, begun }: Asked, seconds: number): KvasirError {
  const what = begun ? 'sent nothing more' : 'sent no first token';
  return new KvasirError(
    'REMOTE_SLOW',
    `${host} ${what} within ${seconds} seconds.`,
    'It may be loading the model, have many requests before this one, or be short of memory: try again, or allow it more time.',
  );
}

/** The answer ended without saying so. */
export function cut({ host }: Asked, how = ''): KvasirError {
  return new KvasirError(
    'REMOTE_CUT',
    `The connection to ${host} ended in the middle of the answer${how}.`,
    'What had come is kept; ask again for the whole.',
  );
}

export function notTheProtocol({ host }: Asked, what: string): KvasirError {
  return new KvasirError(
    'REMOTE_PROTOCOL',
    `${host} does not answer as OpenAI’s API does: ${what}.`,
    'Check the address: mostly it ends in /v1, and no page for signing in may stand before it.',
  );
}

function refusal(error: Thrown, status: number, asked: Asked): KvasirError {
  const { host, model } = asked;
  const said = wordsOf(error, asked);
  const reason = `${String(error.code)} ${String(error.type)} ${said}`;
  const make = (code: ErrorCode, message: string, advice: string): KvasirError =>
    new KvasirError(code, message, advice);
  if (status === 401 || status === 403)
    return asked.key === undefined || asked.key === ''
      ? make('REMOTE_KEY', `${host} wants a key (${status}).`, 'Give the model’s key on the Models screen.')
      : make(
          'REMOTE_KEY',
          `${host} refuses the key, or what it may do (${status}).`,
          'Change the model’s key on the Models screen.',
        );
  if (status === 413 || (status === 400 && TOO_LONG.test(reason)))
    return make(
      'CONTEXT_OVERFLOW',
      `The prompt is longer than ${host} takes for this model${quoted(said)}.`,
      'Allow fewer passages or a smaller context in Settings, or tell the model’s context length when adding it.',
    );
  if (status === 404)
    return make(
      'REMOTE_MODEL',
      model === undefined
        ? `${host} has no list of models at this address (404).`
        : `${host} has no model “${model}” any more, or the address is not that of its API (404).`,
      'Look at which models the server has now, and add the one you want.',
    );
  if (status === 429 && /insufficient_quota|billing|exceeded your current quota/i.test(reason))
    return make(
      'REMOTE_QUOTA',
      `The account at ${host} has used up what it may (429).`,
      'Raise its limit or pay for more there, or choose another model.',
    );
  if (status === 429 || status === 503) return busy(error, status, asked);
  return failed(asked, `${status}${said === '' ? '' : `: ${said}`}`);
}

function busy({ headers }: Thrown, status: number, { host }: Asked): KvasirError {
  const seconds = retrySeconds(headers?.get?.('retry-after') ?? null);
  const when = seconds === undefined ? 'in a while' : `in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const what = status === 429 ? 'takes no more requests for now' : 'is too busy, or still loading';
  return new KvasirError('REMOTE_BUSY', `${host} ${what} (${status}).`, `Ask again ${when}.`);
}

function failed({ host }: Asked, said: string): KvasirError {
  return new KvasirError(
    'REMOTE_FAILED',
    `${host} could not answer${quoted(said)}.`,
    'Its own log says more; ask again, or choose another model.',
  );
}

function redirected({ host }: Asked): KvasirError {
  return new KvasirError(
    'REMOTE_PROTOCOL',
    `${host} sends requests on to another address, which is not followed: what is asked goes to the host you chose alone.`,
    'Add the server by the address that it points to.',
  );
}

function untrusted(code: string, { host }: Asked): KvasirError {
  const why = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code)
    ? 'was signed by nobody this computer trusts'
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

function unreachable(codes: readonly string[], { host }: Asked): KvasirError {
  const name = codes.some((code) => code === 'ENOTFOUND' || code === 'EAI_AGAIN');
  const code = codes.length > 0 ? ` (${codes.join(', ')})` : '';
  return new KvasirError(
    'REMOTE_UNREACHABLE',
    name ? `No computer is known by the name of ${host}${code}.` : `${host} cannot be reached${code}.`,
    'Check that the server runs, its address and port, and your network.',
  );
}

const UNREACHABLE = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EADDR|UND_ERR_)/;

function isUnreachable(codes: readonly string[]): boolean {
  return codes.some((code) => UNREACHABLE.test(code));
}

/** In seconds; the header has these, or a date. */
function retrySeconds(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : undefined;
}

/** Codes of an error and of what caused it, Node's own form of several attempts included. */
function codesOf(error: unknown): string[] {
  const codes = new Set<string>();
  let at = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    const { code, cause, errors } = at as Thrown & { errors?: unknown[] };
    if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) codes.add(code);
    at = cause ?? errors?.[0];
  }
  return [...codes];
}

function textsOf(error: unknown): string {
  const texts: string[] = [];
  let at = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    texts.push(String((at as Thrown).message));
    at = (at as Thrown).cause;
  }
  return texts.join(' ');
}

/** What the server said, on one line and without the key, which some repeat. */
function wordsOf({ message, status }: Thrown, { key }: Asked): string {
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
