import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
/** The printed URL, one for the browser that is opened, and later requests. */
const UNUSED_TOKENS = 4;

/**
 * Access control: sessions, each exchanged for a one-time token. Both are 256 random bits, kept only as hashes in
 * memory; all sessions end with the process.
 */
export class Access {
  /**
   * Path prefix of everything. Cookies are sent to every port of a host, so another program's page on this machine
   * would receive the session's; under a path that only the window knows, it does not.
   */
  readonly base = `/k/${newSecret()}/`;
  /** Unused tokens, newest last. */
  readonly #tokens: Buffer[] = [];
  readonly #sessions: Buffer[] = [];

  newToken(): string {
    const token = newSecret();
    this.#tokens.push(digest(token));
    if (this.#tokens.length > UNUSED_TOKENS) this.#tokens.shift();
    return token;
  }

  /** Exchanges a token for a session; undefined if it is wrong or used. */
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

/** Cookies apply to all ports of a host: the port in the name separates two Kvasirs. */
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

/** Compares with every entry, so that the time does not reveal which one matches. */
function indexOf(given: Buffer, known: readonly Buffer[]): number {
  return known.map((one) => timingSafeEqual(given, one)).indexOf(true);
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
