import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { ApiCore } from './core.ts';
import { body, FAILURES, json } from './schemas.ts';

const DocumentSchema = z.union([z.string().min(1), z.strictObject({ text: z.string().min(1) })]);

const RequestSchema = z
  .strictObject({
    model: z.string().min(1),
    query: z.string().min(1),
    documents: z.array(DocumentSchema).min(1).max(2047),
    top_n: z.int().min(1).nullish(),
    return_documents: z.boolean().nullish(),
  })
  .openapi('RerankRequest');

const RankingSchema = z
  .object({
    model: z.string(),
    results: z.array(
      z.object({
        index: z.int(),
        /** By a reranker: 0 to 1. Else the cosine of the angle between the vectors of query and document. */
        relevance_score: z.number(),
        document: z.object({ text: z.string() }).optional(),
      }),
    ),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .openapi('Ranking');

const route = createRoute({
  method: 'post',
  path: '/v1/rerank',
  request: body(RequestSchema),
  responses: { 200: json(RankingSchema, 'Documents, the best for the query first'), ...FAILURES },
});

export function addRerankRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(route, async (c) => {
    const { model, query, documents, top_n, return_documents } = c.req.valid('json');
    const texts = documents.map((document) => (typeof document === 'string' ? document : document.text));
    const { ranked, tokens } = await core.vectors.rank(model, { query, texts }, c.req.raw.signal);
    const results = ranked.slice(0, top_n ?? undefined).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(return_documents === true && { document: { text: texts[index] ?? '' } }),
    }));
    return c.json({ model, results, usage: { prompt_tokens: tokens, total_tokens: tokens } }, 200);
  });
}
