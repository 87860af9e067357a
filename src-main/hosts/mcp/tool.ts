import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';

type ToolContext = RequestHandlerExtra<ServerRequest, ServerNotification>;

interface ToolOptions<I extends z.ZodObject, O extends z.ZodObject> {
  title: string;
  description: string;
  input: I;
  output: O;
  work: (input: z.output<I>, run: ToolRun) => Promise<z.output<O>> | z.output<O>;
}

interface ToolRun {
  /** Aborted when the client cancels or disconnects. */
  signal: AbortSignal;
  /** Sends the client a progress message, if it asked for them. */
  progress: (message: string) => void;
}

/**
 * Limit for questions and searches: a longer one would hardly be a question, and would not fit most models' context.
 */
export const QuestionSchema = z
  .string()
  .trim()
  .min(1, { error: 'It is empty: say what is looked for.' })
  .max(10_000, { error: 'It is longer than 10,000 characters: say in fewer words what is looked for.' });

/** Whole numbers, also as strings, which some models send; an empty one counts as absent. */
export function wholeNumber<S extends z.ZodType<number | undefined>>(schema: S) {
  return z.preprocess((given) => {
    if (given === '') return undefined;
    return typeof given === 'string' && /^ *\d+(\.0+)? *$/.test(given) ? Number(given) : given;
  }, schema);
}

/** A read-only tool that accesses nothing but this machine's libraries. */
export function addTool<I extends z.ZodObject, O extends z.ZodObject>(
  server: McpServer,
  log: Logger,
  name: string,
  { title, description, input, output, work }: ToolOptions<I, O>,
): void {
  const annotations = { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false };
  const config = { title, description, inputSchema: input as z.ZodType, outputSchema: output, annotations };
  server.registerTool(name, config, async (given, extra): Promise<CallToolResult> => {
    try {
      const told = await work(given as z.output<I>, { signal: extra.signal, progress: progressTo(extra) });
      return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told };
    } catch (error) {
      return { content: [{ type: 'text', text: failureText(error, log) }], isError: true };
    }
  });
}

/** Progress without a known total. */
function progressTo({ _meta, sendNotification }: ToolContext): ToolRun['progress'] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  return (message) => {
    const params = { progressToken, progress: ++progress, message };
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined); // the client has disconnected
  };
}

/** The error message and advice. */
export function failureText(error: unknown, log: Logger): string {
  if (error instanceof KvasirError) return `${error.message} ${error.advice}`.trim();
  log.error('mcp-request-failed', { error: traceOf(error) });
  return 'Kvasir failed at this request: this is a defect. Its log says more.';
}
