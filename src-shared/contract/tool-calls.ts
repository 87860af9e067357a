import { z } from 'zod';

export const ToolCallSchema = z.object({
  /** Unique within the answer. */
  id: z.string(),
  /** As the model calls it. */
  name: z.string(),
  title: z.string(),
  /** Name of the MCP server; null: Kvasir's own tool. */
  server: z.string().nullable(),
  /** A JSON object as text. */
  arguments: z.string(),
  /** UTF-16 offset in the answer's text at which it was called. */
  offset: z.int(),
  /** 'asking': waits for the person's permission. */
  state: z.enum(['asking', 'running', 'done', 'failed', 'refused', 'stopped']),
  /** What the model received; null until then. */
  result: z.string().nullable(),
  /** UTF-16 units at the end of the tool's result that the model did not receive, for lack of room. */
  cutOff: z.int().optional(),
  /** Of the run, in milliseconds; null until it has ended. */
  ms: z.number().nullable(),
});

/** What a person may decide about a call; 'always': also about all later calls of the tool. */
export const CallDecisionSchema = z.enum(['once', 'always', 'no']);

export type CallDecision = z.infer<typeof CallDecisionSchema>;
export type ToolCall = z.infer<typeof ToolCallSchema>;
