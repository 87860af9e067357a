import type { CallableTool, ToolSource } from '../tools/tool.ts';

/** In a conversation's options, Kvasir's own tools; an MCP server has its name after MCP. */
const OWN = 'kvasir';
const MCP = 'mcp:';

/** The tools that an answer may call. */
export interface OfferedTools {
  tools: readonly CallableTool[];
  /** From now on, the tool runs without asking. */
  allow: (tool: CallableTool) => void;
}

/** The tools of a conversation's options, each name once. ABORTED. */
export async function offeredTools(
  sources: readonly ToolSource[],
  names: readonly string[] = [],
  signal: AbortSignal,
): Promise<OfferedTools> {
  if (names.length === 0) return NO_TOOLS;
  const servers = names.flatMap((name) => (name.startsWith(MCP) ? [name.slice(MCP.length)] : []));
  const all = await Promise.all(sources.map((source) => source.tools(signal, servers)));
  const owners = new Map<CallableTool, ToolSource>();
  const offered = new Map<string, CallableTool>();
  for (const [i, tools] of all.entries())
    for (const tool of tools) {
      const source = sources[i];
      const isChosen = names.includes(tool.server === null ? OWN : MCP + tool.server);
      if (!source || !isChosen || offered.has(tool.name)) continue;
      offered.set(tool.name, tool);
      owners.set(tool, source);
    }
  return { tools: [...offered.values()], allow: (tool) => owners.get(tool)?.allow(tool.name) };
}

const NO_TOOLS: OfferedTools = { tools: [], allow: () => undefined };
