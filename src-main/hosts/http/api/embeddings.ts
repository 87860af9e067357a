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
    /** One of the numbers that the model was trained for (Matryoshka). */
    dimensions: z.int().min(1).nullish(),
    /** What the texts are, in the words of Voyage, Cohere and NVIDIA: the model's prefix is put before them. Absent: none is. */
    input_type: z.enum(['query', 'search_query', 'document', 'search_document', 'passage']).nullish(),
    /** Cuts texts that are too long, and lists them in `truncated`. Default: they are refused. */
    truncate: z.boolean().nullish(),
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
    /** Indexes of the texts that were cut, if any were. */
    truncated: z.array(z.int()).optional(),
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
    const { model, input, encoding_format: format, dimensions, input_type, truncate } = c.req.valid('json');
    requireDimensions(model, dimensions, core);
    const texts = typeof input === 'string' ? [input] : input;
    const { vectors, tokens, truncated } = await core.vectors.embed(model, texts, c.req.raw.signal, {
      role: roleOf(input_type),
      truncate: truncate ?? false,
      dimensions,
    });
    const data = vectors.map((vector, index) => ({
      object: 'embedding' as const,
      index,
      embedding: format === 'base64' ? base64(vector) : [...vector],
    }));
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return c.json({ object: 'list' as const, model, data, usage, ...cutTexts(truncated) }, 200);
  });
}

function roleOf(type: string | null | undefined): 'question' | 'passage' | undefined {
  if (type === null || type === undefined) return undefined;
  return type.endsWith('query') ? 'question' : 'passage';
}

export function cutTexts(truncated: number[]): { truncated?: number[] } {
  return truncated.length > 0 ? { truncated } : {};
}

/** Refuses a length that the model was not trained for. NOT_FOUND. */
export function requireDimensions(
  model: string,
  dimensions: number | null | undefined,
  { vectors }: Pick<ApiCore, 'vectors'>,
): void {
  if (dimensions === null || dimensions === undefined) return;
  const why = vectors.whyNotDimensions(model, dimensions);
  if (why !== undefined)
    throw new Refusal(400, `dimensions: ${why}`, { param: 'dimensions', code: 'invalid_value' });
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * Float32Array.BYTES_PER_ELEMENT));
  return bytes.toString('base64');
}
