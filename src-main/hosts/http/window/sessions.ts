import { newSecret, Secrets } from '../../../platform/secrets.ts';

/** The printed URL, one for the browser that is opened, and later requests. */
const UNUSED_TOKENS = 4;

/** Sessions of browsers, each exchanged for a one-time token. All end with the process. */
export class Sessions {
  /**
   * Path of everything. Cookies are sent to every port of a host, so another program's page on this machine would
   * receive the session's; under a path that only the window knows, it does not.
   */
  readonly path = `/k/${newSecret()}`;
  readonly #tokens = new Secrets();
  readonly #sessions = new Secrets();

  newToken(): string {
    return this.#tokens.issue(UNUSED_TOKENS);
  }

  /** Exchanges a token for a session; undefined if it is wrong or used. */
  redeem(token: string): string | undefined {
    return this.#tokens.take(token) ? this.#sessions.issue() : undefined;
  }

  /** A session's cookie is valid under the secret path only: elsewhere it may have leaked. */
  isValid(session: string | undefined, path: string): boolean {
    return session !== undefined && this.#sessions.has(session) && `${path}/`.startsWith(`${this.path}/`);
  }
}
