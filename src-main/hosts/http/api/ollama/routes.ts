import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from '../core.ts';
import { addAnswerRoutes } from './answers.ts';
import { addOllamaEmbeddingRoutes } from './embeddings.ts';
import { addOllamaModelRoutes } from './models.ts';

/** Whether a path belongs to Ollama's API, whose clients expect its error format. */
export function isOllama(path: string): boolean {
  return /^\/api\/(?!v1\/)/.test(path);
}

export function addOllamaRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.use('/api/*', (c, next) => {
    // Ollama's documentation sends JSON by `curl -d`, which calls it a form.
    if (c.req.method === 'POST') c.req.raw.headers.set('Content-Type', 'application/json');
    return next();
  });
  addAnswerRoutes(app, core);
  addOllamaEmbeddingRoutes(app, core);
  addOllamaModelRoutes(app, core);
}
