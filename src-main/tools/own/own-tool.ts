import { z } from 'zod';
import type { CallableTool, ToolContext, ToolResult } from '../tool.ts';

interface OwnToolOptions<I extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: I;
  /** Rejects with a KvasirError for what the model should know. */
  run: (input: z.output<I>, context: ToolContext) => Promise<string> | string;
}

/** A tool that only reads what is on this machine, so that nobody is asked about it. */
export function ownTool<I extends z.ZodObject>({ input, run, ...named }: OwnToolOptions<I>): CallableTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: 'input' });
  return {
    ...named,
    parameters,
    server: null,
    allowed: true,
    run: async (args, context): Promise<ToolResult> => {
      const { data, error } = input.safeParse(args);
      if (error) return { text: `Wrong arguments: ${z.prettifyError(error)}`, isError: true };
      return { text: await run(data, context), isError: false };
    },
  };
}
