import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { ChatRequestSchema } from './chat.ts';
import type { ApiCore } from './core.ts';
import { body, FAILURES, json } from './schemas.ts';
import { messagesOf, textsOf } from './request-fields.ts';

const RequestSchema = z
  .union([
    z.strictObject({
      model: z.string().min(1),
      prompt: z.string(),
      /** Whether to prepend the model's BOS. */
      add_special_tokens: z.boolean().default(true),
    }),
    z.strictObject({ model: z.string().min(1), messages: ChatRequestSchema.shape.messages }),
  ])
  .openapi('TokenizeRequest');

const TokensSchema = z
  .object({
    tokens: z.array(z.int()),
    count: z.int(),
    /** Maximum tokens of prompt and answer. */
    max_model_len: z.int(),
  })
  .openapi('Tokens');

const route = createRoute({
  method: 'post',
  path: '/v1/tokenize',
  request: body(RequestSchema),
  responses: {
    200: json(TokensSchema, 'The tokens of a text, or of messages in the chat template'),
    ...FAILURES,
  },
});

export function addTokenizeRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(route, async (c) => {
    const asked = c.req.valid('json');
    const { model } = asked;
    const { tokens, contextTokens } =
      'prompt' in asked
        ? await core.completions.tokenize(
            { model, prompt: { text: textsOf(asked.prompt, core.separator) } },
            asked.add_special_tokens,
          )
        : await core.completions.tokenize(
            { model, prompt: { messages: messagesOf(asked.messages, core.separator) } },
            true,
          );
    return c.json({ tokens, count: tokens.length, max_model_len: contextTokens }, 200);
  });
}
