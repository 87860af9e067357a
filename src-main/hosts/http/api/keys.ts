import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';

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

/** Guesses of one address in a minute. A client with a wrong key that retries every second stays below. */
const MOST = 100;
const MINUTE_MS = 60_000;
/** Addresses counted in a minute; those beyond share one count, so that many addresses take no memory. */
const MOST_ADDRESSES = 10_000;

/** Counts the wrong keys that each address has sent in this minute, against guessing. */
export class WrongKeys {
  readonly #clock: () => number;
  readonly #counts = new Map<string, number>();
  #since = -Infinity;

  /** `clock`: milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  count(address: string): void {
    this.#startMinute();
    const name = this.#nameOf(address);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Seconds until the address may send a key again; 0: now. */
  waitSeconds(address: string): number {
    this.#startMinute();
    if ((this.#counts.get(this.#nameOf(address)) ?? 0) < MOST) return 0;
    return Math.ceil((this.#since + MINUTE_MS - this.#clock()) / 1000);
  }

  #startMinute(): void {
    if (this.#clock() - this.#since < MINUTE_MS) return;
    this.#since = this.#clock();
    this.#counts.clear();
  }

  /** Whoever has an IPv6 address has its network of 64 bits. */
  #nameOf(address: string): string {
    const name = address.includes('.') ? address : address.split(':').slice(0, 4).join(':');
    return this.#counts.has(name) || this.#counts.size < MOST_ADDRESSES ? name : 'others';
  }
}
