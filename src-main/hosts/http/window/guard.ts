import type { IncomingMessage } from 'node:http';
import { localHosts } from '../listener.ts';
import { cookieName, readCookie, type Access } from './sessions.ts';

/** Why a request is refused. */
export type Refusal = { status: 401 | 403; reason: string };

/**
 * A page of another origin must not reach the core: not by name (a foreign domain that resolves to this machine appears
 * in Host), not by cross-origin requests (which appear in Origin), and not without a session.
 */
export class Guard {
  readonly #access: Access;
  readonly #port: () => number;

  constructor(access: Access, port: () => number) {
    this.#access = access;
    this.#port = port;
  }

  /** Whether Host is a name that browsers on this machine use. */
  checkHost({ headers }: IncomingMessage): Refusal | undefined {
    if (localHosts('127.0.0.1', this.#port()).includes(headers.host?.toLowerCase() ?? '')) return undefined;
    return { status: 403, reason: 'Kvasir answers only at 127.0.0.1 and localhost.' };
  }

  /** Required for all requests with side effects: browsers always send it there. */
  checkOrigin({ headers }: IncomingMessage): Refusal | undefined {
    if (headers.origin === `http://${headers.host ?? ''}`) return undefined;
    return { status: 403, reason: 'Kvasir takes this only from its own page.' };
  }

  /** A session's cookie is valid under the secret path only: elsewhere it may have leaked. */
  checkSession({ headers, url = '' }: IncomingMessage): Refusal | undefined {
    const session = readCookie(headers.cookie, cookieName(this.#port()));
    if (this.#access.isSession(session) && url.startsWith(this.#access.base)) return undefined;
    return { status: 401, reason: 'Kvasir needs the one-time address that it printed.' };
  }
}
