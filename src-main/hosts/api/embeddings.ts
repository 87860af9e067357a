import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from './core.ts';
import { body, FAILURES, json } from './schemas.ts';

const MOST_TEXTS = 2048;

const TextSchema = z.string({ error: 'Only text is supported, no token ids.' }).min(1);

const RequestSchema = z
  .strictObject({
    model: z.string().min(1),
    input: z.union([TextSchema, z.array(TextSchema).min(1).max(MOST_TEXTS)]),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    user: z.string().nullish(),
  })
  .openapi('EmbeddingRequest');

const EmbeddingsSchema = z
  .object({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        /** Numbers, or their 32-bit floats, little endian, in base64. */
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .openapi('Embeddings');

const route = createRoute({
  method: 'post',
  path: '/v1/embeddings',
  request: body(RequestSchema),
  responses: { 200: json(EmbeddingsSchema, 'A vector of length 1 a text'), ...FAILURES },
});

export function addEmbeddingRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(route, async (c) => {
    const { model, input, encoding_format: format } = c.req.valid('json');
    const texts = typeof input === 'string' ? [input] : input;
    const { vectors, tokens } = await core.vectors.embed(model, texts, c.req.raw.signal);
    const data = vectors.map((vector, index) => ({
      object: 'embedding' as const,
      index,
      embedding: format === 'base64' ? base64(vector) : [...vector],
    }));
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return c.json({ object: 'list' as const, model, data, usage }, 200);
  });
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * Float32Array.BYTES_PER_ELEMENT));
  return bytes.toString('base64');
}
