import type { Scope } from '../../src-shared/contract/search.ts';

/** A tool that the model of a conversation may call. */
export interface CallableTool {
  /** Unique among all tools, as the model calls it. */
  name: string;
  title: string;
  description: string;
  /** JSON schema of its arguments, an object. */
  parameters: Readonly<Record<string, unknown>>;
  /** Name of the MCP server that has it; null: it is Kvasir's own. */
  server: string | null;
  /** Whether it runs without asking the person first. */
  allowed: boolean;
  /** Never rejects for what the tool itself reports; ABORTED. */
  run: (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ToolResult>;
}

export interface ToolContext {
  signal: AbortSignal;
  /** The documents of the conversation. */
  scope: Scope;
}

export interface ToolResult {
  /** For the model, and shown to the person. */
  text: string;
  isError: boolean;
}

/** Where tools come from: Kvasir itself, or a set of MCP servers. */
export interface ToolSource {
  /** What can be called now, of these MCP servers at least; a server that cannot be reached has none. */
  tools: (signal: AbortSignal, servers: readonly string[]) => Promise<CallableTool[]>;
  /** From now on, the tool runs without asking. */
  allow: (name: string) => void;
}
