import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string;
  }
}

/** Response headers with the request id: OpenAI's clients read the first, Anthropic's the second. */
export const ID_HEADERS = ['X-Request-Id', 'Request-Id'] as const;

/** Gives each request an id, in its response and in the log entry of a failure, to correlate the two. */
export const nameRequest: MiddlewareHandler = async (c, next) => {
  const id = `req_${randomUUID()}`;
  c.set('requestId', id);
  await next();
  for (const name of ID_HEADERS) c.res.headers.set(name, id);
};
