import type { RouteSet } from '../app.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { addChatRoutes } from './chat.ts';
import { addCompletionRoutes } from './completions.ts';
import type { ApiCore } from './core.ts';
import { addEmbeddingRoutes } from './embeddings.ts';
import { addHealthRoutes } from './health.ts';
import { checkKey, WrongKeys } from './keys.ts';
import type { ApiMetrics } from './metrics.ts';
import { isMessages, messageFailure } from './messages/errors.ts';
import { addMessageRoutes } from './messages/routes.ts';
import { addModelRoutes } from './models.ts';
import { ollamaFailure } from './ollama/answers.ts';
import { addOllamaRoutes, isOllama } from './ollama/routes.ts';
import { addRerankRoutes } from './rerank.ts';
import { addResponseRoutes } from './responses.ts';
import { addTokenizeRoutes } from './tokenize.ts';

/** A request of a hundred thousand tokens is smaller than one. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

interface ApiAccess {
  keys: Secrets;
  /** Accepted Host names, in lower case; undefined: any. */
  hosts: readonly string[] | undefined;
  /** Origins whose pages may send requests; '*': all. */
  origins: readonly string[];
}

/** The routes for other programs. */
export function apiRoutes(core: ApiCore, { keys, hosts, origins }: ApiAccess, metrics: ApiMetrics): RouteSet {
  const wrongKeys = new WrongKeys(core.clock);
  return {
    access: {
      hosts: () => hosts,
      hostAdvice: 'Start it with --allow-host NAME to allow another name.',
      origins,
      open: ['/health', '/openapi.json'],
      checkCredentials: (c) => checkKey(c, keys, wrongKeys),
      maxBodyBytes: MAX_BODY_BYTES,
    },
    around: metrics.middleware,
    respond: (failure, c) => {
      const { path } = c.req;
      if (isOllama(path))
        return c.json(ollamaFailure(failure.body.error.message), failure.status, failure.headers);
      const told = isMessages(path) ? messageFailure(failure, c.get('requestId')) : failure;
      return c.json(told.body, told.status, told.headers);
    },
    add: (app) => {
      addModelRoutes(app, core);
      addChatRoutes(app, core);
      addCompletionRoutes(app, core);
      addResponseRoutes(app, core);
      addMessageRoutes(app, core);
      addOllamaRoutes(app, core);
      addEmbeddingRoutes(app, core);
      addRerankRoutes(app, core);
      addTokenizeRoutes(app, core);
      addHealthRoutes(app, core, metrics);
      app.on(['GET', 'POST', 'DELETE'], '/mcp', (c) => core.mcp(c.req.raw));
      app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Kvasir', version: core.version } });
    },
  };
}
