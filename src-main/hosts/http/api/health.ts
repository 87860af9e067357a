import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from './core.ts';
import type { ApiMetrics } from './metrics.ts';
import { json } from './schemas.ts';

const HealthSchema = z.object({ status: z.enum(['ok', 'loading']) }).openapi('Health');

const health = createRoute({
  method: 'get',
  path: '/health',
  responses: {
    200: json(HealthSchema, 'A model is loaded'),
    503: json(HealthSchema, 'No model is loaded yet'),
  },
});

const metricsRoute = createRoute({
  method: 'get',
  path: '/metrics',
  responses: {
    200: { description: 'In the form of Prometheus', content: { 'text/plain': { schema: z.string() } } },
  },
});

export function addHealthRoutes(app: OpenAPIHono, core: ApiCore, metrics: ApiMetrics): void {
  app.openapi(health, (c) =>
    core.completions.isReady
      ? c.json({ status: 'ok' as const }, 200)
      : c.json({ status: 'loading' as const }, 503),
  );
  app.openapi(metricsRoute, async (c) =>
    c.text(await metrics.registry.metrics(), 200, { 'Content-Type': metrics.registry.contentType }),
  );
}
