import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import type { ToolServer } from '../../../../src-shared/contract/tools.ts';

/** Kvasir's own tools in ConversationOptions.tools. */
export const OWN = 'kvasir';
const SERVER = 'mcp:';

/** Whose tools a conversation can use. */
export interface ToolChoice {
  /** As in ConversationOptions.tools. */
  id: string;
  /** Of the MCP server; '' for Kvasir's own. */
  name: string;
  chosen: boolean;
  /** undefined: Kvasir itself, or a server that mcp.json no longer has. */
  server: ToolServer | undefined;
}

/** Kvasir's own tools, every server, and chosen servers that are gone, so that they can be deselected. */
export function toolChoices(
  { tools = [] }: ConversationOptions,
  servers: readonly ToolServer[],
): ToolChoice[] {
  const known = servers.map(({ name }) => SERVER + name);
  const gone = tools.filter((id) => id.startsWith(SERVER) && !known.includes(id));
  return [OWN, ...known, ...gone].map((id) => {
    const name = id === OWN ? '' : id.slice(SERVER.length);
    return { id, name, chosen: tools.includes(id), server: servers.find((each) => each.name === name) };
  });
}

export function withTools(options: ConversationOptions, id: string, chosen: boolean): ConversationOptions {
  const others = (options.tools ?? []).filter((each) => each !== id);
  const tools = chosen ? [...others, id] : others;
  return { ...options, tools: tools.length > 0 ? tools : undefined };
}
