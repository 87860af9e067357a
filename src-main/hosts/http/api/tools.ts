import { z } from '@hono/zod-openapi';
import type { ToolCall, ToolChoice, ToolRequest } from '../../../answering/tools.ts';
import { Refusal } from '../errors.ts';

/** Names as OpenAI and Anthropic allow them. */
export const ToolNameSchema = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,128}$/, 'A tool’s name has letters, digits, _ and -, at most 128.');

const MOST_LEVELS = 64;

/** The arguments of a call, or their JSON schema. */
export const ParametersSchema = z
  .record(z.string(), z.unknown())
  .refine((value) => isWithin(value, MOST_LEVELS), {
    error: `It is nested more than ${MOST_LEVELS} levels deep.`,
  });

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((item) => isWithin(item, levels - 1));
}

const MOST_TOOLS = 128;

export function toolsSchema<S extends z.ZodType>(tool: S) {
  return z.array(tool).max(MOST_TOOLS).nullish();
}

const FUNCTION = {
  name: ToolNameSchema,
  description: z.string().nullish(),
  parameters: ParametersSchema.nullish(),
  strict: z.boolean().nullish(),
} as const;

const ONLY_FUNCTIONS = { error: 'Only tools of the type "function" are supported.' };
const MODES = z.enum(['none', 'auto', 'required']);
const CalledSchema = z.strictObject({ name: ToolNameSchema });
const AllowedModeSchema = z.enum(['auto', 'required']);

/** Fields of chat completions about tools. */
export const CHAT_TOOLS = {
  tools: toolsSchema(
    z.discriminatedUnion(
      'type',
      [z.strictObject({ type: z.literal('function'), function: z.strictObject(FUNCTION) })],
      ONLY_FUNCTIONS,
    ),
  ),
  tool_choice: z
    .union([
      MODES,
      z.strictObject({ type: z.literal('function'), function: CalledSchema }),
      z.strictObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.strictObject({
          mode: AllowedModeSchema,
          tools: z.array(z.object({ type: z.literal('function'), function: CalledSchema })).min(1),
        }),
      }),
    ])
    .nullish(),
} as const;

export const RESPONSE_TOOLS = {
  tools: toolsSchema(
    z.discriminatedUnion(
      'type',
      [z.strictObject({ type: z.literal('function'), ...FUNCTION })],
      ONLY_FUNCTIONS,
    ),
  ),
  tool_choice: z
    .union([
      MODES,
      z.strictObject({ type: z.literal('function'), name: ToolNameSchema }),
      z.strictObject({
        type: z.literal('allowed_tools'),
        mode: AllowedModeSchema,
        tools: z.array(z.object({ type: z.literal('function'), name: ToolNameSchema })).min(1),
      }),
    ])
    .nullish(),
} as const;

/** A call as answers have it and clients send it back. */
export const CallSchema = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

interface SentTool {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
  strict?: boolean | null | undefined;
}

interface SentTools extends Pick<ToolRequest, 'allowed'> {
  tools: readonly SentTool[];
  choice: 'none' | ToolChoice | null | undefined;
  parallel: boolean | null | undefined;
}

/** undefined where there are none, or none may be called. 400 for a choice that is none of them. */
export function toolRequest({ tools, choice, allowed, parallel }: SentTools): ToolRequest | undefined {
  const wanted = choice ?? 'auto';
  const chosen = typeof wanted === 'object' ? [wanted.name] : (allowed ?? []);
  const names = tools.map(({ name }) => name);
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double !== undefined)
    throw new Refusal(400, `tools: Two are called ${double}.`, { param: 'tools', code: 'invalid_value' });
  const missing = chosen.find((name) => !names.includes(name));
  if (missing !== undefined || (tools.length === 0 && wanted === 'required')) {
    const message =
      missing === undefined
        ? 'tool_choice: There are no tools.'
        : `tool_choice: There is no tool called ${missing}.`;
    throw new Refusal(400, message, { param: 'tool_choice', code: 'invalid_value' });
  }
  if (tools.length === 0 || wanted === 'none') return undefined;
  return {
    tools: tools.map(({ name, description, parameters, strict }) => ({
      name,
      description: description ?? undefined,
      parameters: parameters ?? { type: 'object', properties: {} },
      strict: strict ?? undefined,
    })),
    choice: wanted,
    ...(allowed && { allowed }),
    parallel: parallel ?? true,
  };
}

type SentChoice<S extends { tool_choice: z.ZodType }> = z.infer<S['tool_choice']>;

export function chatChoice(sent: SentChoice<typeof CHAT_TOOLS>): Pick<SentTools, 'choice' | 'allowed'> {
  if (typeof sent !== 'object' || sent === null) return { choice: sent };
  if (sent.type === 'function') return { choice: sent.function };
  const { mode, tools } = sent.allowed_tools;
  return { choice: mode, allowed: tools.map((tool) => tool.function.name) };
}

export function responseChoice(
  sent: SentChoice<typeof RESPONSE_TOOLS>,
): Pick<SentTools, 'choice' | 'allowed'> {
  if (typeof sent !== 'object' || sent === null) return { choice: sent };
  if (sent.type === 'function') return { choice: { name: sent.name } };
  return { choice: sent.mode, allowed: sent.tools.map(({ name }) => name) };
}

/** The arguments of a call as an object: {} where the answer ended within them. */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

export function callTold({ id, ...called }: ToolCall): z.infer<typeof CallSchema> {
  return { id, type: 'function', function: called };
}
