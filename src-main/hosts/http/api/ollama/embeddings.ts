import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from '../core.ts';
import { cutTexts, requireDimensions } from '../embeddings.ts';
import { body, json } from '../schemas.ts';
import { nanoseconds } from './answers.ts';
import { nameOf } from './names.ts';
import {
  EmbeddingsRequestSchema,
  EmbeddingsSchema,
  EmbedRequestSchema,
  EmbedSchema,
  FAILURES,
} from './schemas.ts';

const embed = createRoute({
  method: 'post',
  path: '/api/embed',
  request: body(EmbedRequestSchema),
  responses: { 200: json(EmbedSchema, 'A vector of length 1 per text'), ...FAILURES },
});

/** The older form, for one text. */
const embeddings = createRoute({
  method: 'post',
  path: '/api/embeddings',
  request: body(EmbeddingsRequestSchema),
  responses: { 200: json(EmbeddingsSchema, 'A vector of length 1'), ...FAILURES },
});

export function addOllamaEmbeddingRoutes(app: OpenAPIHono, core: ApiCore): void {
  const embedded = async (
    model: string,
    texts: readonly string[],
    signal: AbortSignal,
    options: { truncate: boolean; dimensions?: number | undefined },
  ) => {
    const { vectors, ...rest } = await core.vectors.embed(nameOf(model, core), texts, signal, options);
    return { vectors: vectors.map((vector) => [...vector]), ...rest };
  };
  app.openapi(embed, async (c) => {
    const { model, input, dimensions, truncate = true } = c.req.valid('json');
    requireDimensions(nameOf(model, core), dimensions, core);
    const began = performance.now();
    const texts = typeof input === 'string' ? textsIn(input) : input;
    const options = { truncate, dimensions };
    const { vectors, tokens, truncated } = await embedded(model, texts, c.req.raw.signal, options);
    const times = { total_duration: nanoseconds(performance.now() - began), load_duration: 0 };
    const counted = { prompt_eval_count: tokens, ...cutTexts(truncated) };
    return c.json({ model, embeddings: vectors, ...times, ...counted }, 200);
  });
  app.openapi(embeddings, async (c) => {
    const { model, prompt } = c.req.valid('json');
    const { vectors } = await embedded(model, textsIn(prompt), c.req.raw.signal, { truncate: true });
    return c.json({ embedding: vectors[0] ?? [] }, 200);
  });
}

/** Clients send an empty text to have the model loaded. */
function textsIn(text: string): string[] {
  return text === '' ? [] : [text];
}
