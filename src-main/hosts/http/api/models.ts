import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { modelNameOf, type ListedModel } from '../../../completions/names.ts';
import { seconds, type ApiCore } from './core.ts';
import { FAILURES, json } from './schemas.ts';

const ModelSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    /** A library is used like a model, and its answers have citations. */
    kind: z.enum(['chat', 'embedding', 'reranker', 'library']),
  })
  .openapi('Model');

const ListSchema = z.object({ object: z.literal('list'), data: z.array(ModelSchema) }).openapi('ModelList');

const list = createRoute({
  method: 'get',
  path: '/v1/models',
  responses: { 200: json(ListSchema, 'The models in use, and the libraries'), ...FAILURES },
});

/** Names of libraries contain a slash. */
const one = createRoute({
  method: 'get',
  path: '/v1/models/{model}',
  request: { params: z.object({ model: z.string() }) },
  responses: { 200: json(ModelSchema, 'One of them'), ...FAILURES },
});

export function addModelRoutes(app: OpenAPIHono, core: ApiCore): void {
  const started = seconds(core.clock);
  const told = ({ name, kind }: ListedModel): z.infer<typeof ModelSchema> => ({
    id: name,
    object: 'model',
    created: started,
    owned_by: 'kvasir',
    kind,
  });
  app.openapi(list, (c) =>
    c.json({ object: 'list' as const, data: core.completions.models().map(told) }, 200),
  );
  app.openapi(one, (c) => c.json(told(core.completions.model(c.req.valid('param').model)), 200));
  app.get('/v1/models/kvasir/:library{.+}', (c) =>
    c.json(told(core.completions.model(modelNameOf(c.req.param('library')))), 200),
  );
}
