import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import { traceOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

interface ToolOptions<I extends z.ZodObject, O extends z.ZodObject> {
  title: string;
  description: string;
  input: I;
  output: O;
  work: (input: z.output<I>, run: ToolRun) => Promise<z.output<O>> | z.output<O>;
}

interface ToolRun {
  /** Aborted when the client cancels, or goes away. */
  signal: AbortSignal;
  /** Tells the client what is done now, where it asked for that. */
  progress: (message: string) => void;
}

/** Questions and searches: more is hardly one, and would not fit the context of most models. */
export const QuestionSchema = z
  .string()
  .trim()
  .min(1, { error: 'It is empty: say what is looked for.' })
  .max(10_000, { error: 'It is longer than 10,000 characters: say in fewer words what is looked for.' });

/** Whole numbers, also as the texts that some models write for them. */
export function wholeNumber(schema: z.ZodNumber) {
  return z.preprocess(
    (given) => (typeof given === 'string' && /^ *\d+(\.0+)? *$/.test(given) ? Number(given) : given),
    schema,
  );
}

/** A tool that changes nothing and reaches nothing but this machine's libraries. */
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

/** Counts what it tells: how much there will be of it, nobody knows. */
function progressTo({ _meta, sendNotification }: Extra): ToolRun['progress'] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  return (message) => {
    const params = { progressToken, progress: ++progress, message };
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined); // nobody is there any more
  };
}

/** What went wrong, and what can be done about it. */
export function failureText(error: unknown, log: Logger): string {
  if (error instanceof KvasirError) return `${error.message} ${error.advice}`.trim();
  log.error('mcp-request-failed', { error: traceOf(error) });
  return 'Kvasir failed at this request: this is a defect. Its log says more.';
}
