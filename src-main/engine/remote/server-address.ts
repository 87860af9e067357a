import { KvasirError } from '../../../src-shared/errors.ts';

/** A model on a server that speaks OpenAI's API. */
export interface RemoteServer {
  /** Up to and with the version: http://localhost:8000/v1. */
  address: string;
  /** As the server calls it. */
  model: string;
  /** Stands between passages, where LMCache cuts prompts (LMCACHE_BLEND_SPECIAL_STR); '': a blank line. */
  separator: string;
  /** Tokens that the server takes in one request; null: unknown. */
  contextTokens: number | null;
  /** Longest silence before the first token, and between two, in seconds. */
  waitSeconds: number;
}

/** The address as requests use it: with a scheme, without a slash at its end, with /v1 where no path is given. BAD_ARGUMENT. */
export function serverAddress(text: string): string {
  const given = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw refused('That is no address of a server.', 'Write it as http://host:port/v1.');
  if (url.username !== '' || url.password !== '')
    throw refused(
      'A name or password in the address would be shown and kept with it.',
      'Give a key instead.',
    );
  if (url.search !== '' || url.hash !== '')
    throw refused('The address goes on behind its path.', 'Leave out what begins with ? or #.');
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

function refused(message: string, advice: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', message, advice);
}
