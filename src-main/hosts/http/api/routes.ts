import { OpenAPIHono } from '@hono/zod-openapi';
import { getPath } from 'hono/utils/url';
import { limitBody } from './body-limit.ts';
import { addChatRoutes } from './chat.ts';
import { addCompletionRoutes } from './completions.ts';
import type { ApiCore } from './core.ts';
import { addEmbeddingRoutes } from './embeddings.ts';
import { errorHandler, Refusal } from '../errors.ts';
import { checkHost, checkKey, checkOrigin, type Access } from '../guard.ts';
import { addHealthRoutes } from './health.ts';
import { refusalOf } from './issues.ts';
import type { ApiMetrics } from './metrics.ts';
import { isMessages, messageErrorHandler } from './messages/errors.ts';
import { addMessageRoutes } from './messages/routes.ts';
import { addModelRoutes } from './models.ts';
import { nameRequest } from './request-id.ts';
import { addRerankRoutes } from './rerank.ts';
import { addResponseRoutes } from './responses.ts';
import { addTokenizeRoutes } from './tokenize.ts';

/** A request of a hundred thousand tokens is smaller than one. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The complete API: access control, then the routes. */
export function createRoutes(core: ApiCore, access: Access, metrics: ApiMetrics): OpenAPIHono {
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
  const told = errorHandler(core.log);
  const toldMessages = messageErrorHandler(core.log);
  app.onError((error, c) => (isMessages(c.req.path) ? toldMessages : told)(error, c));
  app.notFound((c) => {
    const { method, path } = c.req;
    const meant = [`/v1${path}`, path.replace(/^\/v1(?=\/)/, ''), path.replace(/^\/api(?=\/)/, '')];
    const known = meant.find((other) => other !== path && app.routes.some((route) => route.path === other));
    const advice = known === undefined ? '' : ` The path is ${known}.`;
    throw new Refusal(404, `There is no ${method} ${path} here.${advice}`, { code: 'unknown_url' });
  });
  app.use(nameRequest, metrics.middleware, checkHost(access), checkOrigin(access), checkKey(access));
  app.use(limitBody(MAX_BODY_BYTES));
  addModelRoutes(app, core);
  addChatRoutes(app, core);
  addCompletionRoutes(app, core);
  addResponseRoutes(app, core);
  addMessageRoutes(app, core);
  addEmbeddingRoutes(app, core);
  addRerankRoutes(app, core);
  addTokenizeRoutes(app, core);
  addHealthRoutes(app, core, metrics);
  app.on(['GET', 'POST', 'DELETE'], '/mcp', (c) => core.mcp(c.req.raw));
  app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Kvasir', version: core.version } });
  refuseOtherMethods(app);
  return app;
}

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
