import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/**
 * Throws a Refusal for a request without one of the keys. An address that has guessed too often waits: a right key among the guesses would
 * tell. A right key that the address has used before is no guess, and never waits. Without keys, every request is accepted.
 */
export function checkKey(c: Context, keys: Secrets, wrong: WrongKeys): void {
  if (keys.isEmpty) return;
  const address = addressOf(c);
  const bearer = /^Bearer +(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const key = bearer ?? c.req.header('x-api-key');
  const isRight = key !== undefined && keys.has(key);
  const seconds = wrong.waitSeconds(address);
  if (isRight && (seconds === 0 || wrong.isKnown(address, key))) return wrong.know(address, key);
  if (seconds > 0) throw tooManyKeys(seconds);
  if (key !== undefined) wrong.count(address, key);
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

/** Different wrong keys of one address in a minute: a client that repeats one wrong key has guessed once. */
const MOST = 100;
const MINUTE_MS = 60_000;
/** Addresses counted in a minute; those beyond share one count, so that many addresses take no memory. */
const MOST_ADDRESSES = 10_000;
/** Right keys that are remembered with an address. */
const MOST_KNOWN = 10_000;

/** Counts the different wrong keys that each address has sent in this minute, against guessing. Keeps hashes of keys only. */
export class WrongKeys {
  readonly #clock: () => number;
  readonly #guesses = new Map<string, Set<string>>();
  /** Addresses with the right keys that they have used, the newest last. */
  readonly #known = new Set<string>();
  #since = -Infinity;

  /** `clock`: milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  count(address: string, key: string): void {
    this.#startMinute();
    const name = this.#nameOf(address);
    const guesses = this.#guesses.get(name) ?? new Set();
    if (guesses.size < MOST) guesses.add(digest(key));
    this.#guesses.set(name, guesses);
  }

  /** Seconds until the address may send a new key again; 0: now. */
  waitSeconds(address: string): number {
    this.#startMinute();
    if ((this.#guesses.get(this.#nameOf(address))?.size ?? 0) < MOST) return 0;
    return Math.ceil((this.#since + MINUTE_MS - this.#clock()) / 1000);
  }

  /** Remembers a right key that an address has used. */
  know(address: string, key: string): void {
    const pair = `${networkOf(address)} ${digest(key)}`;
    this.#known.delete(pair);
    this.#known.add(pair);
    const [oldest = ''] = this.#known;
    if (this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
  }

  isKnown(address: string, key: string): boolean {
    return this.#known.has(`${networkOf(address)} ${digest(key)}`);
  }

  #startMinute(): void {
    if (this.#clock() - this.#since < MINUTE_MS) return;
    this.#since = this.#clock();
    this.#guesses.clear();
  }

  #nameOf(address: string): string {
    const name = networkOf(address);
    return this.#guesses.has(name) || this.#guesses.size < MOST_ADDRESSES ? name : 'others';
  }
}

/** Whoever has an IPv6 address has its network of 64 bits. */
function networkOf(address: string): string {
  return address.includes('.') ? address : address.split(':').slice(0, 4).join(':');
}

/** Half of a hash: enough to tell keys apart. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
