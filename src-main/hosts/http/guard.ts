import type { Context, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { Refusal } from './errors.ts';
import { hostName, LOCAL_NAMES } from './listener.ts';

/** Which requests an app accepts. */
export interface Access {
  /** Accepted Host headers, in lower case: names for any port, or names with their port. Undefined: any. */
  hosts: () => readonly string[] | undefined;
  /** How to allow another host; may be empty. */
  hostAdvice: string;
  /**
   * Origins whose pages may send requests ('*': all). 'own': browsers send credentials by themselves (cookies), so every
   * request that is more than a read must come from a page of this server.
   */
  origins: readonly string[] | 'own';
  /** Paths that need no credentials. */
  open: readonly string[];
  /** Throws a Refusal without valid credentials. */
  checkCredentials: (c: Context) => void;
  /** Infinity: the routes read bodies as streams. */
  maxBodyBytes: number;
}

/** Access control, for every request before any route sees it. */
export function guard(access: Access): MiddlewareHandler[] {
  return [
    checkHost(access),
    access.origins === 'own' ? checkOwnOrigin : checkOrigin(access.origins),
    checkCredentials(access),
    limitBody(access.maxBodyBytes),
  ];
}

/** Protects against DNS rebinding: a foreign domain that resolves to this machine appears in Host. */
function checkHost({ hosts, hostAdvice }: Access): MiddlewareHandler {
  return (c, next) => {
    const [accepted, host] = [hosts(), c.req.header('host')?.toLowerCase() ?? ''];
    if (!accepted || [host, hostName(host)].some((name) => accepted.includes(name))) return next();
    const message = `This server is called ${accepted.join(', ')}, not ${JSON.stringify(host)}. ${hostAdvice}`;
    throw new Refusal(403, message.trim(), { code: 'foreign_host' });
  };
}

/** WebSockets are included: the same-origin policy does not apply to them. */
const checkOwnOrigin: MiddlewareHandler = (c, next) => {
  const isRead = /^(GET|HEAD)$/.test(c.req.method) && c.req.header('upgrade') === undefined;
  if (isRead || c.req.header('origin') === `http://${c.req.header('host')}`) return next();
  throw new Refusal(403, 'Kvasir accepts this only from its own page.', { code: 'foreign_origin' });
};

/** Response headers with the request id: OpenAI's clients read the first, Anthropic's the second. */
export const ID_HEADERS = ['X-Request-Id', 'Request-Id'] as const;

/** Response headers that pages may read, besides those that describe the body. */
const EXPOSED = [...ID_HEADERS, 'Retry-After', 'X-Should-Retry', 'Mcp-Session-Id'];

/**
 * Pages of other origins are refused entirely. For MCP, origins of this machine must be accepted; pages there still
 * cannot read the response, because no header allows it.
 */
function checkOrigin(origins: readonly string[]): MiddlewareHandler {
  const all = origins.includes('*');
  const answer = cors({ origin: all ? '*' : [...origins], exposeHeaders: EXPOSED });
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined) return next();
    if (!all && !origins.includes(origin)) {
      if (c.req.path === '/mcp' && isLocalOrigin(origin)) return next();
      const message =
        'Pages of this origin may not use this server. Start it with --cors ORIGIN to allow it.';
      throw new Refusal(403, message, { code: 'foreign_origin' });
    }
    const response = await answer(c, next);
    if (c.req.header('access-control-request-private-network') === 'true')
      response?.headers.set('Access-Control-Allow-Private-Network', 'true');
    return response;
  };
}

function isLocalOrigin(origin: string): boolean {
  const { protocol, hostname } = URL.parse(origin) ?? {};
  return /^https?:$/.test(protocol ?? '') && LOCAL_NAMES.includes(hostname ?? '');
}

function checkCredentials({ open, checkCredentials: check }: Access): MiddlewareHandler {
  return (c, next) => {
    if (!open.includes(c.req.path)) check(c);
    return next();
  };
}

/**
 * Refuses bodies of more than `most` bytes (413). Hono's own limit creates a new Request from the given one, which Node
 * does not accept from the server's request class: a body without an announced length would fail.
 */
function limitBody(most: number): MiddlewareHandler {
  const tooLarge = (): Refusal =>
    new Refusal(413, `A request may have ${most} bytes at most.`, { code: 'too_large' });
  return async (c, next) => {
    const { raw } = c.req;
    if (most === Infinity || !raw.body) return next();
    const length = raw.headers.get('content-length');
    if (length !== null && !raw.headers.has('transfer-encoding')) {
      if (Number(length) > most) throw tooLarge();
      return next();
    }
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of raw.body as ReadableStream<Uint8Array>) {
      bytes += piece.length;
      if (bytes > most) throw tooLarge();
      pieces.push(piece);
    }
    const { url, method, headers, signal } = raw;
    c.req.raw = new Request(url, { method, headers, signal, body: Buffer.concat(pieces) });
    return next();
  };
}
