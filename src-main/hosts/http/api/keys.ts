import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { WrongKeys } from './wrong-keys.ts';

/**
 * Throws a Refusal for a request without one of the keys, and for any request from an address that has sent too many wrong ones: a right
 * key among the guesses would tell. Without keys, every request is accepted.
 */
export function checkKey(c: Context, keys: Secrets, wrong: WrongKeys): void {
  if (keys.isEmpty) return;
  const address = addressOf(c);
  const seconds = wrong.waitSeconds(address);
  if (seconds > 0) throw tooManyKeys(seconds);
  const bearer = /^Bearer +(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const key = bearer ?? c.req.header('x-api-key');
  if (key !== undefined && keys.has(key)) return;
  if (key !== undefined) wrong.count(address);
  const message =
    key === undefined
      ? 'This server wants an API key: send it as a bearer token.'
      : 'This API key is not known here.';
  throw new Refusal(401, message, { code: 'invalid_api_key', headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** Of the connection, which may be a reverse proxy's; '' without a socket. */
function addressOf(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage };
  return incoming?.socket.remoteAddress ?? '';
}

function tooManyKeys(seconds: number): Refusal {
  const message = `Too many wrong API keys came from this address. Try again in ${seconds} seconds.`;
  return new Refusal(429, message, {
    code: 'too_many_wrong_keys',
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Keys from a file with one per line; lines that begin with # are comments. BAD_ARGUMENT. */
export function readKeys(path: string): string[] {
  const lines = readLines(path).map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (keys.length > 0) return keys;
  throw new KvasirError('BAD_ARGUMENT', `There is no key in ${path}.`, 'Write one key a line into it.');
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `The keys could not be read from ${path} (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Name a file with one key a line.', { cause: error });
  }
}
