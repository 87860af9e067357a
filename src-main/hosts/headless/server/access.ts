import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

/**
 * Who may see anything: whoever held the one-time token, by the session it was exchanged for. Both are 256 random
 * bits, kept as hashes in memory only; all sessions end with the process.
 */
export class Access {
  /** One outstanding token at a time: a fresh one makes an unused one worthless. */
  #token: Buffer | undefined;
  readonly #sessions: Buffer[] = [];

  newToken(): string {
    const token = newSecret();
    this.#token = digest(token);
    return token;
  }

  /** Exchanges the token for a session; undefined when it is wrong or used up. */
  redeem(token: string): string | undefined {
    if (this.#token === undefined || !timingSafeEqual(digest(token), this.#token)) return undefined;
    this.#token = undefined;
    const session = newSecret();
    this.#sessions.push(digest(session));
    return session;
  }

  isSession(session: string | undefined): boolean {
    if (session === undefined) return false;
    const given = digest(session);
    // Every one is compared, so that the time says nothing about which.
    return this.#sessions.filter((known) => timingSafeEqual(given, known)).length > 0;
  }
}

/** Cookies of one address are shared by all its ports: the port in the name keeps two Kvasirs apart. */
export function cookieName(port: number): string {
  return `kvasir-${port}`;
}

export function sessionCookie(port: number, session: string): string {
  return `${cookieName(port)}=${session}; Path=/; HttpOnly; SameSite=Strict`;
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
