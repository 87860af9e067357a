import { KvasirError } from '../../../../src-shared/errors.ts';

/** A model on a server with an OpenAI-compatible API. */
export interface RemoteServer {
  /** Up to and including the version: http://localhost:8000/v1. */
  address: string;
  /** The server's name for it. */
  model: string;
  /** Separates passages, where LMCache splits prompts (LMCACHE_BLEND_SPECIAL_STR); '': a blank line. */
  separator: string;
  /** Context length of the server in tokens; null: unknown. */
  contextTokens: number | null;
  /** Timeout for the first token, and between two tokens, in seconds. */
  waitSeconds: number;
}

/**
 * Normalises the address for requests: with a scheme, without a trailing slash, with /v1 if no path is given.
 * BAD_ARGUMENT.
 */
export function serverAddress(text: string): string {
  const given = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw invalidAddress('Invalid server address.', 'Write it as http://host:port/v1.');
  if (url.username !== '' || url.password !== '')
    throw invalidAddress(
      'The address must not contain a user name or password: it is displayed and stored.',
      'Enter a key instead.',
    );
  if (url.search !== '' || url.hash !== '')
    throw invalidAddress(
      'The URL must not have a query or fragment.',
      'Remove everything from the ? or # on.',
    );
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

function invalidAddress(message: string, advice: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', message, advice);
}
