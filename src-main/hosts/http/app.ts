import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { getPath } from 'hono/utils/url';
import type { Logger } from '../../platform/logger.ts';
import { failureOf, Refusal, type Failure } from './errors.ts';
import { guard, ID_HEADERS, type Access } from './guard.ts';
import { refusalOf } from './issues.ts';

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string;
  }
}

/** What the window and the API each add to the app. */
export interface RouteSet {
  access: Access;
  /** Outermost middleware: it sees refused requests too. */
  around: MiddlewareHandler;
  /** The response to a request that failed or was refused. */
  respond: (failure: Failure, c: Context) => Response;
  add: (app: OpenAPIHono) => void;
}

/** The HTTP application: request ids, access control and errors, the same for every route. */
export function createApp({ access, around, respond, add }: RouteSet, log: Logger): OpenAPIHono {
  const app = new OpenAPIHono({
    // Base URLs that end with a slash produce paths with two slashes.
    getPath: (request) =>
      getPath(request)
        .replace(/\/{2,}/g, '/')
        .replace(/(?<=.)\/$/, ''),
    defaultHook: (result) => {
      if (!result.success) throw refusalOf(result.error);
    },
  });
  app.onError((error, c) => respond(failureOf(error, log, c.get('requestId')), c));
  app.notFound((c) => {
    const { method, path } = c.req;
    const meant = [`/v1${path}`, path.replace(/^\/v1(?=\/)/, ''), path.replace(/^\/api(?=\/)/, '')];
    const known = meant.find((other) => other !== path && app.routes.some((route) => route.path === other));
    const advice = known === undefined ? '' : ` The path is ${known}.`;
    throw new Refusal(404, `There is no ${method} ${path} here.${advice}`, { code: 'unknown_url' });
  });
  app.use(nameRequest, around, ...guard(access));
  add(app);
  refuseOtherMethods(app);
  return app;
}

/** Gives each request an id, in its response and in the log entry of a failure, to correlate the two. */
const nameRequest: MiddlewareHandler = async (c, next) => {
  const id = `req_${randomUUID()}`;
  c.set('requestId', id);
  await next();
  for (const name of ID_HEADERS) c.res.headers.set(name, id);
};

/**
 * Answers requests with a wrong method to an existing path with 405 instead of 404. Call it after all routes are
 * registered.
 */
function refuseOtherMethods(app: OpenAPIHono): void {
  const taken = app.routes.filter(({ method }) => method !== 'ALL');
  for (const [path, routes] of Map.groupBy(taken, (route) => route.path)) {
    const methods = [...new Set(routes.map(({ method }) => method))].join(', ');
    app.all(path, (c) => {
      const message = `${c.req.path} takes ${methods}, not ${c.req.method}.`;
      throw new Refusal(405, message, { code: 'method_not_allowed', headers: { Allow: methods } });
    });
  }
}
