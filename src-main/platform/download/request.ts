import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { KvasirError } from '../../../src-shared/errors.ts';
import { reachOf } from '../../../src-shared/reach.ts';
import { unlessAborted } from '../abort.ts';
import { messageOf } from '../failure.ts';
import { publicConnection } from './public-address.ts';

const MAX_REDIRECTS = 5;

/** A failure that a retry may avoid. */
export class TransientDownloadError extends KvasirError {
  /** Delay in milliseconds that the server asked for. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super('DOWNLOAD_FAILED', message, 'Check the connection, then resume the download.', options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server, or the network on the way to it, did not respond. */
export class UnreachableError extends TransientDownloadError {}

export class PermanentDownloadError extends KvasirError {
  readonly status: number;
  /** The hub's reason (X-Error-Code), e.g. "GatedRepo"; empty elsewhere. */
  readonly reason: string;

  constructor(message: string, status = 0, reason = '') {
    super('DOWNLOAD_FAILED', message, 'Check the address.');
    this.status = status;
    this.reason = reason;
  }
}

/** Chooses the agent, and what else a connection to a URL needs; its KvasirErrors are those of `get`. */
export type Connect = (url: URL) => RequestOptions | Promise<RequestOptions>;

/**
 * GET, following at most five redirects, none of them away from http and https or from https to http. Interrupted when
 * the server cannot be reached or asks to retry; Refused if it refuses. Returns 416 responses. The caller must destroy
 * a response that it does not read to the end. An `authorization` header goes only to the original server, never to the
 * target of a redirect. `connect` is asked again for every redirect. By default a server on the internet redirects to public addresses only:
 * it may not use this computer to reach what is behind its firewall.
 *
 * Not by `fetch`: with the undici in Node 24, a server that closes the connection while the body waits to be read
 * crashes the whole process (nodejs/undici#5360).
 */
export async function get(
  address: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  connect?: Connect,
): Promise<IncomingMessage> {
  let url = new URL(address);
  const ofRedirects = connect ?? (reachOf(url.hostname) === 'internet' ? publicRedirect : byEnvironment);
  let sent = headers;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const isFirstHost = url.host === new URL(address).host;
    const response = await getOnce(url, sent, signal, isFirstHost ? (connect ?? byEnvironment) : ofRedirects);
    const { location } = response.headers;
    const status = statusOf(response);
    if (status < 300 || status >= 400 || location === undefined) {
      requireUsable(response, url);
      return response;
    }
    response.destroy();
    const next = redirected(url, location);
    if (next.origin !== url.origin) sent = withoutAuthorization(sent);
    url = next;
  }
  throw permanentError(url, `it redirected more than ${MAX_REDIRECTS} times`);
}

function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'));
}

export function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode;
}

async function getOnce(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
  connect: Connect,
): Promise<IncomingMessage> {
  try {
    const options = await unlessAborted(Promise.resolve(connect(url)), signal);
    return await new Promise((resolve, reject) => {
      const { request } = url.protocol === 'https:' ? https : http;
      // A compressed body would have other byte positions than the file.
      const all = { 'accept-encoding': 'identity', 'user-agent': 'kvasir', ...headers };
      request(url, { ...options, headers: all, signal }, (response) => {
        response.on('error', () => undefined); // the reader gets the error; an unread body must not crash the process
        resolve(response);
      })
        .on('error', reject) // for the lifetime of the request, also after the response has begun
        .on('close', () => reject(new Error('it closed the connection without an answer')))
        .end();
    });
  } catch (error) {
    if (signal.aborted || error instanceof KvasirError) throw error;
    throw new UnreachableError(`${url.host} could not be reached (${causeOf(error)}).`, 0, { cause: error });
  }
}

/** A new agent: no connection that a server may have closed. Uses the proxy from the environment, except for hosts on this machine. */
function byEnvironment({ protocol, hostname }: URL): RequestOptions {
  const { Agent } = protocol === 'https:' ? https : http;
  return { agent: new Agent(reachOf(hostname) === 'here' ? {} : { proxyEnv: process.env }) };
}

async function publicRedirect(url: URL): Promise<RequestOptions> {
  try {
    return await publicConnection()(url);
  } catch (error) {
    if (!(error instanceof KvasirError && error.code === 'PAGE_PRIVATE')) throw error;
    throw permanentError(
      url,
      'a server on the internet redirected to it, and it is on this computer or a private network',
    );
  }
}

function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from.href);
  if (!to || !['http:', 'https:'].includes(to.protocol))
    throw permanentError(from, 'it redirected to no web address');
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw permanentError(from, `it redirected to ${to.host} without encryption`);
  }
  return to;
}

function requireUsable(response: IncomingMessage, url: URL): void {
  const status = statusOf(response);
  if (status === 200 || status === 206 || status === 416) return;
  response.destroy();
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    throw new TransientDownloadError(`${url.host} answered with status ${status}.`, askedWaitMs(response));
  }
  const reason = response.headers['x-error-code'];
  throw permanentError(
    url,
    `it answered with status ${status}`,
    status,
    typeof reason === 'string' ? reason : '',
  );
}

/**
 * Retry delay that the server asks for: Retry-After in seconds or as a date, or a hub's RateLimit ("api";r=0;t=55). At
 * most a minute.
 */
function askedWaitMs({ headers }: IncomingMessage): number {
  const after = headers['retry-after'] ?? /;t=(\d+)/.exec(String(headers['ratelimit'] ?? ''))?.[1] ?? '';
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return Number.isFinite(ms) ? Math.min(60_000, Math.max(0, ms)) : 0;
}

function permanentError({ host }: URL, why: string, status = 0, reason = ''): PermanentDownloadError {
  return new PermanentDownloadError(`${host} did not return the file: ${why}.`, status, reason);
}

/** Yields a body in pieces. Interrupted if the connection breaks. */
export async function* received(body: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    throw new TransientDownloadError(`The connection was lost (${causeOf(error)}).`, 0, { cause: error });
  }
}

/** A body as text; undefined if it is larger than `maxBytes`. Interrupted as received(). */
export async function textOf(body: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of received(body)) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) return undefined; // which also ends the connection
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The code of a network error, or its message. */
function causeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : messageOf(error);
}
