import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { hostName, LOCAL_NAMES } from './listener.ts';
import { Refusal } from './errors.ts';
import type { ApiKeys } from './secrets.ts';
import { ID_HEADERS } from './api/request-id.ts';

/** Access control of the API. */
export interface Access {
  keys: ApiKeys;
  /** Accepted Host names, in lower case; undefined: any. */
  hosts: readonly string[] | undefined;
  /** Origins whose pages may send requests; '*': all. */
  origins: readonly string[];
}

/** Routes without data: only the server's health and its API description. */
const OPEN = ['/health', '/openapi.json'];

/** Response headers that pages may read, besides those that describe the body. */
const EXPOSED = [...ID_HEADERS, 'Retry-After', 'X-Should-Retry', 'Mcp-Session-Id'];

/** Protects against DNS rebinding: a foreign domain that resolves to this machine appears in Host. */
export function checkHost({ hosts }: Access): MiddlewareHandler {
  return async (c, next) => {
    const name = hostName(c.req.header('host'));
    if (hosts && !hosts.includes(name)) {
      const message = `This server is called ${hosts.join(', ')}, not ${JSON.stringify(name)}. Start it with --allow-host NAME to allow another name.`;
      throw new Refusal(403, message, { code: 'foreign_host' });
    }
    await next();
  };
}

/**
 * Browsers send the origin of a request: pages of other origins are refused entirely. For MCP, origins of this machine
 * must be accepted; pages there still cannot read the response, because no header allows it.
 */
export function checkOrigin({ origins }: Access): MiddlewareHandler {
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

export function checkKey({ keys }: Access): MiddlewareHandler {
  return async (c, next) => {
    if (keys.isEmpty || OPEN.includes(c.req.path)) return next();
    const bearer = /^Bearer +(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const key = bearer ?? c.req.header('x-api-key');
    if (key === undefined)
      throw new Refusal(401, 'This server wants an API key: send it as a bearer token.', {
        code: 'invalid_api_key',
      });
    if (!keys.has(key))
      throw new Refusal(401, 'This API key is not known here.', { code: 'invalid_api_key' });
    return next();
  };
}
