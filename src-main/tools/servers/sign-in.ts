import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { SignIns, Grant } from './sign-ins.ts';

interface SignInOptions {
  signIns: SignIns;
  server: string;
  /** The server's address. */
  url: string;
}

const RETURNED = 'You can close this page, and return to Kvasir.\n';
const REFUSED = 'The sign-in did not succeed. You can close this page, and return to Kvasir.\n';

export function signInError(server: string, why = 'it requires a sign-in'): KvasirError {
  return new KvasirError(
    'MCP_SIGN_IN',
    `${server} refused the request: ${why}.`,
    'Sign in, or give its key as a header, in Settings, Tools.',
  );
}

/** OAuth with one server, by its stored grant alone: where that does not do, MCP_SIGN_IN. */
export class SignIn implements OAuthClientProvider {
  readonly redirectUrl: string = 'http://127.0.0.1/';
  readonly #options: SignInOptions;
  #verifier = '';

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Kvasir',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    return (await this.#grant()).client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    return this.#change((grant) => ({ ...grant, client }));
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    return (await this.#grant()).tokens;
  }

  saveTokens(tokens: OAuthTokens): Promise<void> {
    return this.#change((grant) => ({ ...grant, tokens }));
  }

  async redirectToAuthorization(page: URL): Promise<void> {
    const scope = page.searchParams.get('scope');
    if (scope !== null) await this.#change((grant) => ({ ...grant, scope }));
    throw signInError(this.#options.server);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    return this.#change(({ client, tokens, ...grant }) => ({
      ...grant,
      ...(client && scope !== 'all' && scope !== 'client' && { client }),
      ...(tokens && scope !== 'all' && scope !== 'tokens' && { tokens }),
    }));
  }

  #grant(): Promise<Grant> {
    const { signIns, server, url } = this.#options;
    return signIns.get(server, url);
  }

  async #change(make: (grant: Grant) => Grant): Promise<void> {
    const { signIns, server, url } = this.#options;
    await signIns.set(server, url, make(await this.#grant()));
  }
}

/** The same with a person, who signs in on a page in the browser, which then calls an address of this process. */
export class BrowserSignIn extends SignIn {
  override readonly redirectUrl: string;
  readonly #listener: Server;
  readonly #state = randomUUID();
  readonly #code = Promise.withResolvers<string>();
  readonly #scope: string;
  readonly #onPage: (page: URL) => void;

  private constructor(options: SignInOptions, listener: Server, scope: string, onPage: (page: URL) => void) {
    super(options);
    this.redirectUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    this.#listener = listener;
    this.#scope = scope;
    this.#onPage = onPage;
    this.#code.promise.catch(() => undefined); // whoever waits for it sees it
    listener.on('request', (request, response) => {
      const searchParams = new URLSearchParams(request.url?.replace(/^[^?]*/, ''));
      response.setHeader('Connection', 'close').setHeader('Content-Type', 'text/plain');
      if (searchParams.get('state') !== this.#state) return void response.writeHead(400).end();
      const code = searchParams.get('code');
      const why = searchParams.get('error_description') ?? searchParams.get('error') ?? 'no code';
      if (code === null) this.#code.reject(signInError(options.server, `the sign-in failed (${why})`));
      else this.#code.resolve(code);
      response.end(code === null ? REFUSED : RETURNED);
    });
  }

  /** Forgets the earlier grant. `onPage` is called with the page to open. */
  static async begin(options: SignInOptions, onPage: (page: URL) => void): Promise<BrowserSignIn> {
    const { scope = '' } = await options.signIns.get(options.server, options.url);
    await options.signIns.forget(options.server);
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new BrowserSignIn(options, listener, scope, onPage);
  }

  /** What the page returned to prove the sign-in. MCP_SIGN_IN: the person or the server refused. */
  get code(): Promise<string> {
    return this.#code.promise;
  }

  state(): string {
    return this.#state;
  }

  override redirectToAuthorization(page: URL): Promise<void> {
    if (!this.#listener.listening) return super.redirectToAuthorization(page);
    if (!/^https?:$/.test(page.protocol)) throw new Error(`${page.protocol} is no address of a sign-in page`);
    const scopes = `${page.searchParams.get('scope') ?? ''} ${this.#scope}`.split(' ').filter(Boolean);
    if (this.#scope !== '') page.searchParams.set('scope', [...new Set(scopes)].join(' '));
    this.#onPage(page);
    return Promise.resolve();
  }

  /** From now on, the grant alone has to do. */
  close(): void {
    this.#listener.close();
  }
}
