import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string;
  }
}

/** What answers call a request: OpenAI's clients look at the first, Anthropic's at the second. */
export const ID_HEADERS = ['X-Request-Id', 'Request-Id'] as const;

/** Names each request, in its answer and in the log where it fails, so that the two can be brought together. */
export const nameRequest: MiddlewareHandler = async (c, next) => {
  const id = `req_${randomUUID()}`;
  c.set('requestId', id);
  await next();
  for (const name of ID_HEADERS) c.res.headers.set(name, id);
};
