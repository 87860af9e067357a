import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from './core.ts';
import { Refusal } from '../errors.ts';
import { body, FAILURES, json } from './schemas.ts';

export const MOST_TEXTS = 2048;

export const TextSchema = z
  .string({
    error: ({ input }) =>
      typeof input === 'number' || Array.isArray(input)
        ? "These are token ids of another model's tokenizer. Send texts: in LangChain, set check_embedding_ctx_length=False."
        : undefined,
  })
  .min(1, { error: 'This text is empty. Leave it out.' });

const RequestSchema = z
  .strictObject({
    model: z.string().min(1),
    input: z.union([
      TextSchema,
      z
        .array(TextSchema)
        .min(1, { error: 'There is no text.' })
        .max(MOST_TEXTS, { error: `A request may have ${MOST_TEXTS} texts at most.` }),
    ]),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    /** Vectors are not truncated. */
    dimensions: z.int().nullish(),
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
        /** Numbers, or little-endian 32-bit floats in base64. */
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
    const { model, input, encoding_format: format, dimensions } = c.req.valid('json');
    requireDimensions(model, dimensions, core);
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

/** Refuses to shorten vectors. NOT_FOUND. */
export function requireDimensions(
  model: string,
  dimensions: number | null | undefined,
  { vectors }: Pick<ApiCore, 'vectors'>,
): void {
  const length = vectors.dimension(model);
  if ((dimensions ?? length) === length) return;
  const message = `dimensions: The vectors of this model have ${length} dimensions and are not shortened. Leave it out.`;
  throw new Refusal(400, message, { param: 'dimensions', code: 'invalid_value' });
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * Float32Array.BYTES_PER_ELEMENT));
  return bytes.toString('base64');
}
