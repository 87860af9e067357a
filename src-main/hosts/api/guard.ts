import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { Refusal } from './errors.ts';
import type { ApiKeys } from './keys.ts';
import { ID_HEADERS } from './request-id.ts';

/** Who may reach the API. */
export interface Access {
  keys: ApiKeys;
  /** Host headers that are answered; undefined: any. */
  hosts: () => readonly string[] | undefined;
  /** Pages of these origins may ask; '*': of all. */
  origins: readonly string[];
}

/** What says only whether the server is up, or what it can do, but nothing of what it has. */
const OPEN = ['/health', '/openapi.json'];

/** Headers of answers that pages may read, besides those that say what a body is. */
const EXPOSED = [...ID_HEADERS, 'Retry-After', 'X-Should-Retry', 'Mcp-Session-Id'];

/** A name that a foreign page has resolve to this machine shows in Host. */
export function checkHost({ hosts }: Access): MiddlewareHandler {
  return async (c, next) => {
    const allowed = hosts();
    if (allowed && !allowed.includes(c.req.header('host') ?? ''))
      throw new Refusal(403, `This server answers only at ${allowed.join(' and ')}.`, {
        code: 'foreign_host',
      });
    await next();
  };
}

/** Browsers tell where a request comes from: a page that nobody allowed gets nothing, not even a request through. */
export function checkOrigin({ origins }: Access): MiddlewareHandler {
  const all = origins.includes('*');
  const answer = cors({ origin: all ? '*' : [...origins], exposeHeaders: EXPOSED });
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined) return next();
    if (!all && !origins.includes(origin))
      throw new Refusal(403, 'Pages of this origin may not ask this server.', { code: 'foreign_origin' });
    return answer(c, next);
  };
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
