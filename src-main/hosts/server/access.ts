import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
/** The printed address, one for the browser that is opened, and what was asked for since. */
const UNUSED_TOKENS = 4;

/**
 * Who may see anything: whoever held the one-time token, by the session it was exchanged for. Both are 256 random
 * bits, kept as hashes in memory only; all sessions end with the process.
 */
export class Access {
  /**
   * The path that everything lies under. Cookies go to every port of an address, so another program's page on this machine would be
   * handed the session's; under a path that only a window knows, it is not.
   */
  readonly base = `/k/${newSecret()}/`;
  /** Tokens that were not used yet, newest last. */
  readonly #tokens: Buffer[] = [];
  readonly #sessions: Buffer[] = [];

  newToken(): string {
    const token = newSecret();
    this.#tokens.push(digest(token));
    if (this.#tokens.length > UNUSED_TOKENS) this.#tokens.shift();
    return token;
  }

  /** Exchanges a token for a session; undefined when it is wrong or used up. */
  redeem(token: string): string | undefined {
    const at = indexOf(digest(token), this.#tokens);
    if (at < 0) return undefined;
    this.#tokens.splice(at, 1);
    const session = newSecret();
    this.#sessions.push(digest(session));
    return session;
  }

  isSession(session: string | undefined): boolean {
    return session !== undefined && indexOf(digest(session), this.#sessions) >= 0;
  }
}

/** Cookies of one address are kept for all its ports: the port in the name keeps two Kvasirs apart. */
export function cookieName(port: number): string {
  return `kvasir-${port}`;
}

export function sessionCookie(port: number, session: string, path: string): string {
  return `${cookieName(port)}=${session}; Path=${path}; HttpOnly; SameSite=Strict`;
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Every one is compared, so that the time says nothing about which it is. */
function indexOf(given: Buffer, known: readonly Buffer[]): number {
  return known.map((one) => timingSafeEqual(given, one)).indexOf(true);
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
