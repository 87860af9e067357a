import { KvasirError } from '../../../src-shared/errors.ts';
import { messageOf } from '../../platform/failure.ts';

const MAX_REDIRECTS = 5;

/** A failure that another attempt may not meet. */
export class Interrupted extends KvasirError {
  /** Milliseconds the server asked to wait. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super('DOWNLOAD_FAILED', message, 'Check the connection, then resume the download.', options);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * GET, following at most five redirects, none of them away from http and https or from https to http. Interrupted when the
 * server cannot be reached or says to come again; DOWNLOAD_FAILED when it refuses. 416 is handed out.
 */
export async function get(
  address: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  let url = new URL(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetchOnce(url, headers, signal);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) {
      await requireUsable(response, url);
      return response;
    }
    await response.body?.cancel();
    url = redirected(url, location);
  }
  throw refused(url, `it redirected more than ${MAX_REDIRECTS} times`);
}

async function fetchOnce(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  try {
    // A compressed body would have other byte positions than the file.
    const all = { 'accept-encoding': 'identity', ...headers };
    return await fetch(url, { headers: all, redirect: 'manual', signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Interrupted(`${url.host} could not be reached (${causeOf(error)}).`, 0, { cause: error });
  }
}

function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from.href);
  if (!to || !['http:', 'https:'].includes(to.protocol))
    throw refused(from, 'it redirected to no web address');
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw refused(from, `it redirected to ${to.host} without encryption`);
  }
  return to;
}

async function requireUsable(response: Response, url: URL): Promise<void> {
  const { status } = response;
  if (status === 200 || status === 206 || status === 416) return;
  await response.body?.cancel();
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const seconds = Number(response.headers.get('retry-after'));
    const wait = Number.isFinite(seconds) ? Math.min(60, Math.max(0, seconds)) * 1000 : 0;
    throw new Interrupted(`${url.host} answered with status ${status}.`, wait);
  }
  throw refused(url, `it answered with status ${status}`);
}

function refused({ host }: URL, why: string): KvasirError {
  const message = `${host} does not hand out the file: ${why}.`;
  return new KvasirError('DOWNLOAD_FAILED', message, 'Check the address.');
}

/** What `fetch failed` is hiding. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (typeof code === 'string') return code;
  return messageOf(error);
}
